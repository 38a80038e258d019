//go:build !linux && !darwin && !freebsd

package boltstore

import "errors"

// FreeSpace is not known here.
func (s *Store) FreeSpace() (int64, error) { return 0, errors.ErrUnsupported }
