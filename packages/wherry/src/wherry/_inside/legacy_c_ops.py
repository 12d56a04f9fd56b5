"""`paddle._legacy_C_ops`: operators that take inputs, then names and values of attributes."""
from wherry_paddle_files import operators

__getattr__ = operators.door(new=False)


def __dir__() -> list[str]:
    return operators.names(new=False)
