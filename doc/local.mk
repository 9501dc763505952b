# SPDX-License-Identifier: BSD-2-Clause
dist_doc_DATA += doc/BENCHMARKS.md doc/LIBCRYPT.md doc/PAM.md doc/PARAMETERS.md doc/SPEC.md doc/THREATS.md
