package requests

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// checkTimes refuses times and durations outside of protobuf's range, which JSON cannot express.
func checkTimes(m protoreflect.Message) error {
	switch t := m.Interface().(type) {
	case *timestamppb.Timestamp:
		if !t.IsValid() {
			return &fieldError{what: "a time must lie in the years 1 to 9999, with 0 to 999,999,999 nanoseconds"}
		}
	case *durationpb.Duration:
		if !t.IsValid() {
			return &fieldError{what: "a span must be within 10,000 years, with nanoseconds of the same sign"}
		}
	}
	for _, f := range shapeOf(m.Descriptor()).timed {
		if !m.Has(f) {
			continue
		}
		if err := checkTimesOf(f, m.Get(f)); err != nil {
			return err
		}
	}
	return nil
}

func checkTimesOf(f protoreflect.FieldDescriptor, v protoreflect.Value) error {
	path := &field{name: string(f.Name()), list: f.IsList()}
	if !f.IsList() {
		return within(path, 0, checkTimes(v.Message()))
	}
	for i := range v.List().Len() {
		if err := within(path, i, checkTimes(v.List().Get(i).Message())); err != nil {
			return err
		}
	}
	return nil
}
