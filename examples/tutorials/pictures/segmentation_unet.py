# Pictures of the test; what each of their pixels belongs to; what the network says.
from wherry_web.playground import show

show(images[:8], title="Pictures")
show(masks[:8], title="Background, border, animal", low=0, high=2)
show(found[:8], title="As the network says", low=0, high=2)
