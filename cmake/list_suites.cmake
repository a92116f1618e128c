# SPDX-License-Identifier: Apache-2.0
# Run after a test executable was linked: writes one add_test for each of its suites. A process a
# suite costs far less than a process a case, and still runs side by side and names what failed.
#   cmake -D program=... -D prefix=... -D output=... -P list_suites.cmake

execute_process(
  COMMAND "${program}" --gtest_list_tests
  OUTPUT_VARIABLE listing
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[^ \n]+\\. *(#[^\n]*)?\n" lines "${listing}")

set(text "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^\n?([^ \n]+)\\..*" "\\1" suite "${line}")
  string(APPEND text "add_test([=[${prefix}.${suite}]=] [=[${program}]=] "
         "[=[--gtest_filter=${suite}.*]=])\n"
         "set_tests_properties([=[${prefix}.${suite}]=] PROPERTIES "
         "LABELS [=[${prefix}]=] ENVIRONMENT OMP_WAIT_POLICY=passive)\n")
endforeach()
if(NOT text)
  message(FATAL_ERROR "${program} lists no tests")
endif()
file(WRITE "${output}" "${text}")
