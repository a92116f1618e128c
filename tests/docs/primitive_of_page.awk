# SPDX-License-Identifier: Apache-2.0
# Prints the first block of C++ of a page: the file of the new primitive.
/^```c\+\+$/ && !seen { inside = seen = 1; next }
/^```$/ { inside = 0 }
inside { print }
