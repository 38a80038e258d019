"""An agent's turns: the loop, what is kept between turns, and how turns and compactions make way."""
