package boltstore

import "unsafe"

// mapped returns the part of the file that a transaction of bbolt reads, in the memory to which bbolt maps it. It is
// valid as long as the transaction.
func mapped(data uintptr, length int) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&data))), length)
}
