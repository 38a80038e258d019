//go:build !linux

package secrets

import "time"

var began = time.Now()

// spent returns the time that has passed.
func spent() time.Duration { return time.Since(began) }
