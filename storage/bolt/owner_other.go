//go:build !unix

package boltstore

import "os"

// keepOwner does nothing where files have no owner and group like those of Unix.
func keepOwner(os.FileInfo, string) error { return nil }

// hasNames cannot tell it here.
func hasNames(os.FileInfo, int) bool { return false }
