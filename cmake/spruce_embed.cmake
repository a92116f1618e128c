# SPDX-License-Identifier: Apache-2.0

# spruce_embed(<target> <symbol> <file>)
#
# Makes the bytes of the file part of the target. Its sources then have, from "<symbol>.h",
#   extern const std::string_view <symbol>;
function(spruce_embed target symbol file)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/embedded")
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake")
  add_custom_command(
    OUTPUT "${folder}/${symbol}.h" "${folder}/${symbol}.cc"
    COMMAND "${CMAKE_COMMAND}" -D "symbol=${symbol}" -D "input=${file}" -D "folder=${folder}" -P
            "${script}"
    DEPENDS "${file}" "${script}"
    COMMENT "Embedding ${file}"
    VERBATIM)
  target_sources(${target} PRIVATE "${folder}/${symbol}.h" "${folder}/${symbol}.cc")
  target_include_directories(${target} PRIVATE "${folder}")
endfunction()
