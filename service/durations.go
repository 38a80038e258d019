package service

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
)

// duration reads a span of a policy; without one fallback holds.
func duration(d *durationpb.Duration, fallback time.Duration) time.Duration {
	if d == nil {
		return fallback
	}
	return d.AsDuration()
}
