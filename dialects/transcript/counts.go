package transcript

import (
	"errors"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var errMoreCached = errors.New("is more than the whole prompt")

// countField is a field that holds a count, and the destination of the count.
type countField struct {
	key  string
	into *uint32
}

func counts(o rawjson.Object, fields ...countField) error {
	for _, f := range fields {
		var err error
		if *f.into, err = o.Count(f.key); err != nil {
			return err
		}
	}
	return nil
}
