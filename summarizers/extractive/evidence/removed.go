package evidence

// removedShare is what is left of the worth of a name that is not there any more.
const removedShare = 0.5

// Remove says of names in which message they were removed. Those that no later message has are not there any more: they
// are worth little, and Remove returns them. All texts were added before.
func (c *Collector) Remove(names map[string]uint32) (gone map[string]bool) {
	gone = map[string]bool{}
	for name, message := range names {
		id, ok := c.lookUp(name)
		if !ok || id == known || c.names[id].last > message {
			continue
		}
		c.names[id].said *= removedShare
		gone[name] = true
		c.weighed = nil
	}
	return gone
}
