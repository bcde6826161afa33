"""Tests, mirroring the rooms. A package, because an installed library brings a package of this name too."""
