# Windows x86_64 by mingw-w64 (Debian and Ubuntu: gcc-mingw-w64-x86-64-win32), linked against the Universal CRT.
#
# The packaged compiler links msvcrt.dll by default. Its own specs with -lucrt in that place make the same compiler use
# the UCRT, which every Windows 10 has. This works with the win32 thread variant only: the packaged libwinpthread is built
# for msvcrt, and so the project has native Win32 threads. Programs run under Wine by tests/wine/run.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-win32)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

set(MX_UCRT_SPECS "${CMAKE_BINARY_DIR}/ucrt.specs")
if(NOT EXISTS "${MX_UCRT_SPECS}")
  execute_process(COMMAND ${CMAKE_C_COMPILER} -dumpspecs OUTPUT_VARIABLE specs RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${CMAKE_C_COMPILER} does not run: install gcc-mingw-w64-x86-64-win32 (tools/setup windows)")
  endif()
  string(REPLACE "-lmsvcrt" "-lucrt" specs "${specs}")
  file(WRITE "${MX_UCRT_SPECS}" "${specs}")
endif()
# Upstream gcc does not align the stack for 32-byte vectors on Windows (its bug 54412) and then faults on aligned moves to
# it. Debian's gcc is patched; the assembler option is right for every other.
# mingw's own printf (__USE_MINGW_ANSI_STDIO) rounds exactly whatever UCRT is installed; older ones, and Wine's, round a
# tie such as 2.25 to one place away from zero.
set(CMAKE_C_FLAGS_INIT "-D__USE_MINGW_ANSI_STDIO=1 -Wa,-muse-unaligned-vector-move -specs=${MX_UCRT_SPECS} -D_UCRT -D__MSVCRT_VERSION__=0xE00")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")

set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR "${CMAKE_CURRENT_LIST_DIR}/../../tests/wine/run")
