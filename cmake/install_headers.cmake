# SPDX-License-Identifier: Apache-2.0
# Run at installation: the headers that users include (`roots`, under `include_dir`) and all that
# these include. No other header is installed. `destination` is where they go.
set(todo ${roots})
cmake_minimum_required(VERSION 3.25)
set(seen "")
while(todo)
  list(POP_FRONT todo header)
  if(header IN_LIST seen)
    continue()
  endif()
  list(APPEND seen "${header}")
  cmake_path(GET header PARENT_PATH folder)
  file(
    INSTALL "${include_dir}/${header}"
    DESTINATION "${destination}/${folder}"
    FOLLOW_SYMLINK_CHAIN)
  file(STRINGS "${include_dir}/${header}" lines REGEX "^#include [<\"]spruce/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include [<\"]([^>\"]+)[>\"].*$" "\\1" included "${line}")
    list(APPEND todo "${included}")
  endforeach()
endwhile()
