"""What programs of the page Playground may import, and what runs them there.

    from wherry_web.playground import digits, plot, show
"""
from wherry_web.playground.pictures import digits, plot, show

__all__ = ["digits", "plot", "show"]
