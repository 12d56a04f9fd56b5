"""`python -m wherry_infer`: where the C header and source are, for makefiles."""
from wherry_infer.native import get_include, get_source

if __name__ == "__main__":
    print(f"INCLUDE={get_include()}\nSOURCE={get_source()}")
