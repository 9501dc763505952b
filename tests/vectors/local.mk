# SPDX-License-Identifier: BSD-2-Clause
# Vectors for the unit tests, and the independent model that made them.
EXTRA_DIST += \
	tests/vectors/argon2.vec \
	tests/vectors/generate_vectors.py \
	tests/vectors/mhkdf1.vec \
	tests/vectors/mhkdf_model.py \
	tests/vectors/strings.vec \
	tests/vectors/test_model.py
TESTS += tests/vectors/test_model.py
