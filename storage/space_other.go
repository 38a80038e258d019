//go:build !linux && !darwin && !freebsd

package storage

import "errors"

// FreeSpace is not known here.
func (Folder) FreeSpace() (int64, error) { return 0, errors.ErrUnsupported }
