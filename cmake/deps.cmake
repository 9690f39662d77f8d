# The third-party libraries as imported targets: mx_dep::yyjson, mx_dep::utf8proc, mx_dep::pcre2, mx_dep::curl.
#
# They are built by deps/ the first time that a build folder is configured, and installed in
#   ${MLXCEL_DEPS_DIR}/<system>-<processor>-<hash of the recipes and of the toolchain file>
# where MLXCEL_DEPS_DIR (environment) defaults to build/deps in the source tree. All presets of one target share them,
# sanitizer builds too. A lock lets one of several simultaneous configure runs build while the others wait, and the folder
# appears under its final name only when it is whole.
include(${CMAKE_SOURCE_DIR}/deps/sources.cmake)

set(MX_DEPS_TARGET "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
string(TOLOWER "${MX_DEPS_TARGET}" MX_DEPS_TARGET)
set(recipes ${CMAKE_SOURCE_DIR}/deps/sources.cmake ${CMAKE_SOURCE_DIR}/deps/CMakeLists.txt
            ${CMAKE_SOURCE_DIR}/deps/curl_config.h ${CMAKE_SOURCE_DIR}/deps/mbedtls_config.h ${CMAKE_TOOLCHAIN_FILE})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${recipes})
set(hashes "")
foreach(recipe IN LISTS recipes)
  file(SHA256 "${recipe}" hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 12 hash)

if(DEFINED ENV{MLXCEL_DEPS_DIR})
  file(TO_CMAKE_PATH "$ENV{MLXCEL_DEPS_DIR}" root)
else()
  set(root "${CMAKE_SOURCE_DIR}/build/deps")
endif()
set(MX_DEPS_PREFIX "${root}/${MX_DEPS_TARGET}-${hash}")

function(mx_run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "deps: ${what} failed (${result}):\n${output}")
  endif()
endfunction()

# Fetches, compiles and installs the libraries under a name of its own, then moves them to MX_DEPS_PREFIX.
function(mx_deps_build)
  message(STATUS "deps: building ${MX_DEPS} for ${MX_DEPS_TARGET} in ${MX_DEPS_PREFIX}")
  set(work "${MX_DEPS_PREFIX}.partial")
  file(REMOVE_RECURSE "${work}")
  file(MAKE_DIRECTORY "${work}")
  execute_process(COMMAND ${CMAKE_COMMAND} -DMX_FETCH_INTO=${work}/src -P ${CMAKE_SOURCE_DIR}/deps/fetch.cmake
                  RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "deps: the sources of third-party libraries are missing, see above")
  endif()
  if(CMAKE_TOOLCHAIN_FILE)
    set(compiler -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE})
  else()
    set(compiler -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER})
  endif()
  cmake_host_system_information(RESULT n_cores QUERY NUMBER_OF_LOGICAL_CORES)
  mx_run("configuring" ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR}/deps -B ${work}/build -G ${CMAKE_GENERATOR} ${compiler}
         -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} -DMX_DEPS_SOURCES=${work}/src -DCMAKE_INSTALL_PREFIX=${work}/install)
  mx_run("compiling" ${CMAKE_COMMAND} --build ${work}/build --target install --parallel ${n_cores})
  file(RENAME "${work}/install" "${MX_DEPS_PREFIX}")
  file(REMOVE_RECURSE "${work}")
endfunction()

if(NOT EXISTS "${MX_DEPS_PREFIX}")
  file(MAKE_DIRECTORY "${root}")
  file(LOCK "${MX_DEPS_PREFIX}.lock" GUARD FILE TIMEOUT 900)
  if(NOT EXISTS "${MX_DEPS_PREFIX}")
    mx_deps_build()
  endif()
  file(LOCK "${MX_DEPS_PREFIX}.lock" RELEASE)
endif()

function(mx_dep_import name library)
  add_library(mx_dep::${name} STATIC IMPORTED GLOBAL)
  set_target_properties(
    mx_dep::${name} PROPERTIES
    IMPORTED_LOCATION "${MX_DEPS_PREFIX}/lib/lib${library}.a"
    INTERFACE_INCLUDE_DIRECTORIES "${MX_DEPS_PREFIX}/include"
    INTERFACE_COMPILE_DEFINITIONS "${ARGN}")
endfunction()
mx_dep_import(yyjson yyjson)
mx_dep_import(utf8proc utf8proc UTF8PROC_STATIC)
mx_dep_import(pcre2 pcre2-8 "PCRE2_STATIC;PCRE2_CODE_UNIT_WIDTH=8")
mx_dep_import(curl curl CURL_STATICLIB)
if(WIN32)
  target_link_libraries(mx_dep::curl INTERFACE ws2_32 crypt32 bcrypt secur32 advapi32 iphlpapi)
else()
  mx_dep_import(mbedtls mbedtls)
  find_package(Threads REQUIRED)
  target_link_libraries(mx_dep::curl INTERFACE mx_dep::mbedtls Threads::Threads)
endif()
