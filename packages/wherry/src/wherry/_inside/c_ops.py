"""`paddle._C_ops`: operators that take inputs and attributes in order."""
from wherry._inside import operators

__getattr__ = operators.door(new=True)


def __dir__() -> list[str]:
    return operators.names(new=True)
