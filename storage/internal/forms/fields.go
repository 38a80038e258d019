package forms

import (
	"math"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// fields reads the fields of one message in the form in which this program writes them: in order, each number in its
// shortest form, and nothing that could be left out. It has failed where the encoding has another form.
type fields struct {
	rest   []byte
	number protowire.Number
	failed bool
	// shared is the copy of which texts are parts; none where each text is a copy of its own.
	shared shared

	wire protowire.Type
}

// shared is a copy of an encoding.
type shared struct {
	copy string
	// capacity is that of the bytes that were copied. Each slice of them has as much less as it begins behind their start.
	capacity int
}

// text returns the part of the copy with these bytes, which are a slice of what was copied.
func (s shared) text(b []byte) string {
	start := s.capacity - cap(b)
	return s.copy[start : start+len(b)]
}

// next goes to the next field. Only fields with the repeated numbers may come more than once.
func (f *fields) next(repeated ...protowire.Number) bool {
	if len(f.rest) == 0 || f.failed {
		return false
	}
	if tag := f.rest[0]; tag < 0x80 && protowire.Number(tag>>3) > f.number {
		// Most fields have one of the first numbers and come once.
		f.rest, f.number, f.wire = f.rest[1:], protowire.Number(tag>>3), protowire.Type(tag&7)
		return true
	}
	number, wire, n := protowire.ConsumeTag(f.rest)
	if n < 0 || n != protowire.SizeTag(number) || number < f.number || number == f.number && !slices.Contains(repeated, number) {
		f.failed = true
		return false
	}
	f.rest, f.number, f.wire = f.rest[n:], number, wire
	return true
}

// ended says that nothing is left, and that what was read had the right form.
func (f *fields) ended() bool { return len(f.rest) == 0 && !f.failed }

// need fails the reading unless something holds.
func (f *fields) need(holds bool) { f.failed = f.failed || !holds }

func (f *fields) varint() uint64 {
	value, n := protowire.ConsumeVarint(f.rest)
	if n < 0 || n != protowire.SizeVarint(value) || f.wire != protowire.VarintType {
		f.failed = true
		return 0
	}
	f.rest = f.rest[n:]
	return value
}

// anyUint32 returns a number, which may be 0.
func (f *fields) anyUint32() uint32 {
	value := f.varint()
	f.need(value <= math.MaxUint32)
	return uint32(value)
}

func (f *fields) uint32() uint32 {
	value := f.anyUint32()
	f.need(value != 0)
	return value
}

// int32 returns a positive number, or the number of an enum.
func (f *fields) int32() int32 {
	value := f.varint()
	f.need(value > 0 && value <= math.MaxInt32)
	return int32(value)
}

func (f *fields) bool() bool {
	f.need(f.varint() == 1)
	return true
}

func (f *fields) bytes() []byte {
	value, n := protowire.ConsumeBytes(f.rest)
	if n < 0 || n != protowire.SizeBytes(len(value)) || f.wire != protowire.BytesType {
		f.failed = true
		return nil
	}
	f.rest = f.rest[n:]
	return value
}

func (f *fields) text() string {
	value := f.bytes()
	f.need(len(value) > 0 && utf8.Valid(value))
	if f.failed {
		return ""
	}
	if f.shared.copy != "" {
		return f.shared.text(value)
	}
	return string(value)
}

// inner returns the fields of a message within this one.
func (f *fields) inner() fields { return fields{rest: f.bytes(), shared: f.shared} }

// share makes the texts within parts of one copy of all that is left, and returns it.
func (f *fields) share() string {
	f.shared = shared{string(f.rest), cap(f.rest)}
	return f.shared.copy
}

// uint32s returns a list of numbers, in room where that is enough.
func (f *fields) uint32s(room []uint32) []uint32 {
	packed := f.bytes()
	count := 0
	for _, b := range packed {
		if b < 0x80 {
			count++
		}
	}
	f.need(count > 0)
	list := slices.Grow(room, count)
	for len(packed) > 0 && !f.failed {
		value, n := protowire.ConsumeVarint(packed)
		f.need(n > 0 && n == protowire.SizeVarint(value) && value <= math.MaxUint32)
		if n > 0 {
			packed = packed[n:]
			list = append(list, uint32(value))
		}
	}
	return list
}

// other reads a message that is not worth a function of its own.
func other[M proto.Message](f *fields, m M) M {
	b := f.bytes()
	if !f.failed {
		f.need(unmarshal(b, m) == nil)
	}
	return m
}
