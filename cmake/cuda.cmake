# The GPU kernels: nvcc -> one compressed fatbin, embedded as bytes. Nothing of CUDA's is needed without nvcc: the program
# then runs on the CPU alone and says so in --version.
#
#   MLXCEL_CUDA        AUTO (kernels where nvcc is found), ON (nvcc must be there), OFF
#   MLXCEL_CUDA_ARCHS  "90a" or "80;90a;ptx80": machine code for these alone, and PTX, for developers; default: what the
#                      environment variable of this name says, else every supported one
#
# The same fatbin goes into every host's program, so it is compiled once and kept under the hash of all that made it, in
#   ${MLXCEL_FATBIN_DIR}  (environment; default: build/fatbin in the source tree)
set(MLXCEL_CUDA AUTO CACHE STRING "GPU kernels: AUTO, ON or OFF")
set(MLXCEL_CUDA_ARCHS "$ENV{MLXCEL_CUDA_ARCHS}" CACHE STRING "Compute capabilities to compile for, as 90a; empty: all")

set(MX_CUDA_FATBIN "")
if(NOT MLXCEL_CUDA STREQUAL "OFF" AND NOT APPLE)
  find_program(MX_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin /usr/local/cuda/bin NO_CMAKE_FIND_ROOT_PATH)
  find_program(MX_NVCC_HOST NAMES g++ clang++ NO_CMAKE_FIND_ROOT_PATH)
  if(MX_NVCC AND MX_NVCC_HOST)
    execute_process(COMMAND ${MX_NVCC} --version OUTPUT_VARIABLE MX_NVCC_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REPLACE "\n" " " MX_NVCC_VERSION "${MX_NVCC_VERSION}")
    string(REGEX MATCH "release ([0-9]+)\\.([0-9]+)" found "${MX_NVCC_VERSION}")
    math(EXPR MX_CUDA_TOOLKIT "${CMAKE_MATCH_1} * 1000 + ${CMAKE_MATCH_2} * 10")
    math(EXPR MX_CUDA_DRIVER_VERSION "${CMAKE_MATCH_1} * 1000")
    file(GLOB MX_CUDA_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/backend/cuda/kernels/*)
  elseif(MLXCEL_CUDA STREQUAL "ON")
    message(FATAL_ERROR "MLXCEL_CUDA is ON, but nvcc (of CUDA 12.8 or later) with a host compiler (g++) was not found")
  endif()
endif()

if(MX_CUDA_SOURCES)
  enable_language(ASM)
  set(archs ${MLXCEL_CUDA_ARCHS})
  if(NOT archs)
    set(archs 80 86 89 90a 100 120 ptx80 ptx90)
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
      list(APPEND archs 121)
    endif()
  endif()
  set(gencode "")
  foreach(arch IN LISTS archs)
    string(REPLACE "ptx" "" number ${arch})
    if(arch MATCHES "^ptx")
      list(APPEND gencode -gencode=arch=compute_${number},code=compute_${number})
    else()
      list(APPEND gencode -gencode=arch=compute_${number},code=sm_${number})
    endif()
  endforeach()
  list(JOIN archs " " MX_CUDA_ARCHS_TEXT)

  set(MX_CUDA_FATBIN ${CMAKE_BINARY_DIR}/cuda/mlxcel.fatbin)
  add_custom_command(
    OUTPUT ${MX_CUDA_FATBIN}
    COMMAND
      ${CMAKE_COMMAND} -DNVCC=${MX_NVCC} "-DNVCC_VERSION=${MX_NVCC_VERSION}" -DHOST=${MX_NVCC_HOST}
      "-DGENCODE=${gencode}" -DSOURCE_DIR=${CMAKE_SOURCE_DIR} -DOUTPUT=${MX_CUDA_FATBIN}
      -P ${CMAKE_SOURCE_DIR}/cmake/fatbin.cmake
    DEPENDS ${MX_CUDA_SOURCES} ${CMAKE_SOURCE_DIR}/cmake/fatbin.cmake
    COMMENT "GPU kernels for ${MX_CUDA_ARCHS_TEXT}"
    VERBATIM)
  add_custom_target(mx_fatbin DEPENDS ${MX_CUDA_FATBIN})
endif()
