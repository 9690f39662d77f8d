# Brings the pinned archives of sources.cmake onto this machine and unpacks them:
#
#   cmake -DMX_FETCH_INTO=DIR -P deps/fetch.cmake        unpacks to DIR/yyjson, DIR/utf8proc and so on
#
# An archive that is already in the cache (MLXCEL_CACHE_DIR, else ~/.cache/mlxcel, folder sources/) is used from there, so
# a machine without a network needs those files in that folder and nothing else. Every archive is hashed before use.
cmake_minimum_required(VERSION 3.21)
include(${CMAKE_CURRENT_LIST_DIR}/sources.cmake)

if(DEFINED ENV{MLXCEL_CACHE_DIR})
  set(cache "$ENV{MLXCEL_CACHE_DIR}/sources")
elseif(DEFINED ENV{HOME})
  set(cache "$ENV{HOME}/.cache/mlxcel/sources")
else()
  set(cache "$ENV{LOCALAPPDATA}/mlxcel/sources")
endif()
file(MAKE_DIRECTORY "${cache}")

# Downloads land in `work` and move into the cache only once their hash is right, so the cache never holds half a file.
string(RANDOM LENGTH 8 tag)
set(work "${cache}/partial-${tag}")

# Sets `ok` to TRUE when `path` exists and hashes to `sha256`.
function(check_hash path sha256 ok)
  set(${ok} FALSE PARENT_SCOPE)
  if(EXISTS "${path}")
    file(SHA256 "${path}" got)
    if(got STREQUAL sha256)
      set(${ok} TRUE PARENT_SCOPE)
    else()
      message(STATUS "deps: ${path} hashes to ${got}, not to ${sha256}; not used")
    endif()
  endif()
endfunction()

# Debian's mirror as this machine's apt knows it, in `out`; empty where there is no apt or the system is not Debian.
function(find_debian_mirror out)
  set(${out} "" PARENT_SCOPE)
  find_program(MX_APT_GET apt-get)
  if(NOT MX_APT_GET OR NOT EXISTS /usr/share/keyrings/debian-archive-keyring.gpg)
    return()
  endif()
  execute_process(COMMAND ${MX_APT_GET} indextargets --format "$(REPO_URI) $(RELEASE) $(COMPONENT)" "Created-By: Packages"
                  OUTPUT_VARIABLE targets ERROR_QUIET)
  if(targets MATCHES "(^|\n)([^ \n]+) (bookworm|trixie|forky|stable|sid) main")
    set(${out} "${CMAKE_MATCH_2}" PARENT_SCOPE)
  endif()
endfunction()

# Fetches `package` of Debian `suite` into `work`, with a sources list of our own: the machine's stays as it is. Mirrors
# sometimes lack a package's .dsc while the upstream archive beside it is there, so apt's exit status is not asked.
function(fetch_debian suite package)
  find_debian_mirror(mirror)
  if(NOT mirror)
    return()
  endif()
  set(apt "${work}/apt-${suite}")
  set(options -oDir::Etc::SourceList=${apt}/sources.list -oDir::Etc::SourceParts=/dev/null
              -oDir::State::Lists=${apt}/lists -oDir::Cache=${apt}/cache -oAPT::Sandbox::User=root
              -oAcquire::Languages=none -oAcquire::http::Timeout=30 -oAcquire::Retries=2)
  if(NOT EXISTS "${apt}")
    file(MAKE_DIRECTORY "${apt}/lists/partial" "${apt}/cache/archives/partial")
    file(WRITE "${apt}/sources.list"
         "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror} ${suite} main\n")
    execute_process(COMMAND ${MX_APT_GET} ${options} update OUTPUT_QUIET ERROR_QUIET)
  endif()
  execute_process(COMMAND ${MX_APT_GET} ${options} source --download-only ${package}
                  WORKING_DIRECTORY "${work}" OUTPUT_QUIET ERROR_QUIET)
endfunction()

# Sets `out` to the path of a checked archive of library `name`, or ends the script naming what was tried.
function(fetch name out)
  foreach(place IN LISTS MX_DEP_${name}_places)
    string(REPLACE "|" ";" place "${place}")
    list(GET place -2 file)
    list(GET place -1 sha256)
    check_hash("${cache}/${file}" ${sha256} ok)
    if(ok)
      set(${out} "${cache}/${file}" PARENT_SCOPE)
      return()
    endif()
  endforeach()

  foreach(place IN LISTS MX_DEP_${name}_places)
    string(REPLACE "|" ";" place "${place}")
    list(GET place 0 kind)
    list(GET place 1 where)
    list(GET place -2 file)
    list(GET place -1 sha256)
    message(STATUS "deps: fetching ${file} (${kind})")
    file(MAKE_DIRECTORY "${work}")
    if(kind STREQUAL "debian")
      list(GET place 2 package)
      fetch_debian(${where} ${package})
    else()
      file(DOWNLOAD "${where}" "${work}/${file}" INACTIVITY_TIMEOUT 30 TIMEOUT 300 STATUS status)
      list(GET status 0 code)
      if(NOT code EQUAL 0)
        list(GET status 1 reason)
        message(STATUS "deps: ${where}: ${reason}")
        file(REMOVE "${work}/${file}")
      endif()
    endif()
    check_hash("${work}/${file}" ${sha256} ok)
    if(ok)
      file(RENAME "${work}/${file}" "${cache}/${file}")
      set(${out} "${cache}/${file}" PARENT_SCOPE)
      return()
    endif()
    list(APPEND tried "${kind} ${where}")
  endforeach()
  file(REMOVE_RECURSE "${work}")
  list(JOIN tried ", " tried)
  message(FATAL_ERROR "deps: ${name} ${MX_DEP_${name}_version} could not be fetched (tried ${tried}). "
                      "Put the archive that deps/sources.cmake names into ${cache} and configure again.")
endfunction()

foreach(name IN LISTS MX_DEPS)
  fetch(${name} archive)
  file(MAKE_DIRECTORY "${MX_FETCH_INTO}/unpack-${name}")
  file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${MX_FETCH_INTO}/unpack-${name}")
  file(GLOB top "${MX_FETCH_INTO}/unpack-${name}/*")        # release archives hold one folder of any name
  file(RENAME "${top}" "${MX_FETCH_INTO}/${name}")
  file(REMOVE_RECURSE "${MX_FETCH_INTO}/unpack-${name}")
endforeach()
file(REMOVE_RECURSE "${work}")
