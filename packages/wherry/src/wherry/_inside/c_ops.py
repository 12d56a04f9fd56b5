"""`paddle._C_ops`: operators that take inputs and attributes in order."""
from wherry_paddle_files import operators

__getattr__ = operators.door(new=True)


def __dir__() -> list[str]:
    return operators.names(new=True)
