# cmake -DNVCC= -DNVCC_VERSION= -DHOST= -DGENCODE= -DSOURCE_DIR= -DOUTPUT= -P fatbin.cmake
#
# Compiles src/backend/cuda/kernels/kernels.cu, which includes every kernel, to one fatbin. The result is kept under the
# hash of the sources, the compiler's version and the flags: nvcc's output is the same whenever these are.
set(flags -std=c++17 -O3 -fatbin --compress-mode=size -ccbin ${HOST} ${GENCODE} -I${SOURCE_DIR}/src)
file(GLOB sources ${SOURCE_DIR}/src/backend/cuda/kernels/*)
list(SORT sources)
set(hashes "${NVCC_VERSION} ${GENCODE}")
foreach(source IN LISTS sources)
  file(SHA256 "${source}" hash)
  string(APPEND hashes " ${hash}")
endforeach()
string(SHA256 hash "${hashes}")

if(DEFINED ENV{MLXCEL_FATBIN_DIR})
  file(TO_CMAKE_PATH "$ENV{MLXCEL_FATBIN_DIR}" root)
else()
  set(root ${SOURCE_DIR}/build/fatbin)
endif()
set(kept ${root}/${hash}.fatbin)
if(NOT EXISTS ${kept})
  file(MAKE_DIRECTORY ${root})
  file(LOCK ${kept}.lock GUARD PROCESS TIMEOUT 1800)
  if(NOT EXISTS ${kept})
    execute_process(COMMAND ${NVCC} ${flags} -o ${kept}.partial ${SOURCE_DIR}/src/backend/cuda/kernels/kernels.cu
                    RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "nvcc could not compile the GPU kernels")
    endif()
    file(RENAME ${kept}.partial ${kept})
  endif()
endif()
file(COPY_FILE ${kept} ${OUTPUT})
