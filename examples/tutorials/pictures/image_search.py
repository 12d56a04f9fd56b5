# Four pictures, each with the five that lie nearest to it, in the order of their distance.
from wherry_web.playground import show

for asked in range(4):
    found = [asked, *nearest[asked].tolist()]
    show((test_images[found] + 1) / 2, title=f"Picture {asked}, and what is near")
