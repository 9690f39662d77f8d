# How the project's targets are made: one static library a folder, one program a test file.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(MX_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings -Wundef
    -Wpointer-arith -Wdouble-promotion)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND MX_WARNINGS -Wno-format-truncation)
endif()
option(MX_WERROR "Treat warnings as errors" ON)
if(MX_WERROR)
  list(APPEND MX_WARNINGS -Werror)
endif()

add_library(mx_flags INTERFACE)
target_compile_options(mx_flags INTERFACE "$<$<COMPILE_LANGUAGE:C>:${MX_WARNINGS}>" -fno-math-errno -ffp-contract=off)
target_include_directories(mx_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
if(NOT APPLE)
  # What no program calls is left out of it.
  target_compile_options(mx_flags INTERFACE -ffunction-sections -fdata-sections)
  target_link_options(mx_flags INTERFACE -Wl,--gc-sections)
endif()
if(WIN32)
  target_compile_definitions(mx_flags INTERFACE WIN32_LEAN_AND_MEAN NOMINMAX UNICODE _UNICODE _WIN32_WINNT=0x0A00)
else()
  target_compile_definitions(mx_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64)
  target_link_libraries(mx_flags INTERFACE m)
endif()

# mx_library(<folder> SOURCES a.c ... [LIBS mx_base mx_dep::yyjson ...])
# The folder's library, target mx_<folder>.
function(mx_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_library(mx_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(mx_${name} PUBLIC mx_flags ${ARG_LIBS})
endfunction()

# mx_test(<name> SOURCES a_test.c [LIBS mx_text ...] [ARGS ...] [LABELS ...])
# A test program in <build>/tests/<name>, run by ctest. It ends with "N passed, N failed".
function(mx_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;ARGS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE mx_flags ${ARG_LIBS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
endfunction()

# mx_tests(<folder's library> a b ...): one program a_test from each a_test.c of this folder.
function(mx_tests library)
  foreach(subject ${ARGN})
    mx_test(${subject}_test SOURCES ${subject}_test.c LIBS ${library})
  endforeach()
endfunction()
