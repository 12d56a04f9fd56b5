"""Compiles the library; everything else is said in pyproject.toml."""
from setuptools import Extension, setup

import wherry_tensor

setup(
    ext_modules=[
        Extension(
            "wherry_mydevice._library",
            ["src/wherry_mydevice/_library.c"],
            include_dirs=[wherry_tensor.get_include()],
            extra_compile_args=["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"],
        )
    ],
    package_dir={"": "src"},
    packages=["wherry_mydevice"],
)
