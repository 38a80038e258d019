package service_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/storage/storagetest"
)

// markers are texts that a test has planted, as an export has them: fields are those of each path.
type markers struct {
	fields map[string][]string
	texts  int
}

// plant fills each string and each list of bytes of a message, at all depths, with a text of its own. Of each oneof it takes
// the field of this number, counted around. It reports whether there is a field with a higher number.
func (p *markers) plant(m protoreflect.Message, path string, choice, depth int) (more bool) {
	if m.Descriptor().FullName() == (&timestamppb.Timestamp{}).ProtoReflect().Descriptor().FullName() || depth == 0 {
		return false
	}
	for i := range m.Descriptor().Fields().Len() {
		field := m.Descriptor().Fields().Get(i)
		at := path + "." + string(field.Name())
		if oneof := field.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() {
			n := oneof.Fields().Len()
			more = more || choice+1 < n
			if oneof.Fields().Get(choice%n) != field {
				continue
			}
		}
		switch {
		case field.IsMap():
			if value := p.value(field.MapValue(), at); value.IsValid() {
				key := p.value(field.MapKey(), at+"[key]")
				m.Mutable(field).Map().Set(key.MapKey(), value)
			}
		case field.IsList() && field.Message() != nil:
			more = p.plant(m.Mutable(field).List().AppendMutable().Message(), at, choice, depth-1) || more
		case field.IsList():
			if value := p.value(field, at); value.IsValid() {
				m.Mutable(field).List().Append(value)
			}
		case field.Message() != nil:
			more = p.plant(m.Mutable(field).Message(), at, choice, depth-1) || more
		default:
			if value := p.value(field, at); value.IsValid() {
				m.Set(field, value)
			}
		}
	}
	return more
}

func (p *markers) value(field protoreflect.FieldDescriptor, path string) protoreflect.Value {
	p.texts++
	text := fmt.Sprintf("planted-%d-", p.texts)
	switch field.Kind() {
	case protoreflect.StringKind:
		p.fields[path] = append(p.fields[path], text)
		return protoreflect.ValueOfString(text)
	case protoreflect.BytesKind:
		// JSON has them in base64.
		p.fields[path] = append(p.fields[path], base64.StdEncoding.EncodeToString([]byte(text)))
		return protoreflect.ValueOfBytes([]byte(text))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(1)
	default:
		return protoreflect.Value{}
	}
}

// What any field of what is stored of a session holds comes out in its export: of its row, of each kind of part, of each kind
// of record, and of remembered requests. A kind that is added later is among them.
func TestExportHasEveryField(t *testing.T) {
	t.Parallel()
	store, planted := memory.New(), &markers{fields: map[string][]string{}}
	d := storagetest.NewSession("", "s", "u").Text("first")
	require.NoError(t, store.CreateSession(t.Context(), &d.Commit))
	const depth = 7
	for choice, more := 0, true; more; choice++ {
		record, message := &compactordv1.Record{}, &compactordv1.Message{}
		more = planted.plant(record.ProtoReflect(), "record", choice, depth)
		more = planted.plant(message.ProtoReflect(), "message", choice, depth) || more
		d = storagetest.Next(d.Session).Message(message).Record(record).Remember(fmt.Sprint("planted-request-", choice, "-"))
		planted.fields["request.id"] = append(planted.fields["request.id"], d.Request.ID)
		planted.plant(d.Request.Stored.ProtoReflect(), "request", choice, depth)
		// Each commit replaces the row. What has a meaning to the store, or to the start of a daemon, is not planted.
		maps.DeleteFunc(planted.fields, func(path string, _ []string) bool { return strings.HasPrefix(path, "row.") })
		was, row := d.Session, &storagev1.Session{}
		planted.plant(row.ProtoReflect(), "row", choice, depth)
		row.Tenant, row.SessionId, row.Uid = was.GetTenant(), was.GetSessionId(), was.GetUid()
		row.CreatedAt, row.ChangedAt, row.Revision = was.GetCreatedAt(), was.GetChangedAt(), was.GetRevision()
		row.Head.NextIndex, row.Head.NextSequence = was.GetHead().GetNextIndex(), was.GetHead().GetNextSequence()
		row.Parent, row.Running = nil, nil
		maps.DeleteFunc(planted.fields, func(path string, _ []string) bool {
			return strings.HasPrefix(path, "row.parent.") || strings.HasPrefix(path, "row.running.") ||
				slices.Contains([]string{"row.tenant", "row.session_id", "row.uid"}, path)
		})
		d.Session = row
		require.NoError(t, store.Commit(t.Context(), &d.Commit))
	}

	daemon := start(t, withStore(store))
	conn := daemon.connect()
	defer func() { require.NoError(t, conn.Close()) }()
	stream, err := compactordv1.NewStoreServiceClient(conn).ExportSession(t.Context(), &compactordv1.ExportSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	var out strings.Builder
	for {
		item, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		out.WriteString(protojson.Format(item) + "\n")
	}
	for path, texts := range planted.fields {
		for _, text := range texts {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: %s is not in the export", path, text)
			}
		}
	}
	for _, path := range []string{"row.title", "record.compaction.summary", "record.prune.edits.replacement", "message.parts.text.text", "request.response"} {
		require.NotEmpty(t, planted.fields[path], "the test plants nothing in %s", path)
	}
}
