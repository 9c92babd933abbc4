"""How every door of programs behaves: strict, permitted, in one shape."""
