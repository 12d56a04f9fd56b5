# Numbers that it never saw, and what it is sure of in each column: above the digits 0 to 9, in the last line nothing.
from wherry_web.playground import show

show(test.images[:3], title="Numbers")
show(scores[:3].transpose(0, 2, 1), title="Digits by columns", low=0, high=1)
print("read:", *["".join(map(str, read(row))) for row in scores[:3]])
