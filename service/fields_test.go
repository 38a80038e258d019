package service_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// violation is a value of a field that breaks one of its rules.
type violation struct {
	rule string
	set  func(m protoreflect.Message, f protoreflect.FieldDescriptor)
}

// sentBytes is the size up to which values are really sent. Larger ones go only to the validator, since the size limit
// for whole messages would refuse them first. Short runs send less, since the race detector would take half a minute.
func sentBytes() int {
	if testing.Short() {
		return 8 << 10
	}
	return 1 << 20
}

// TestEveryFieldOutOfRange visits the requests of all RPCs by reflection. It sets each field that has a rule to a value
// that breaks it, and expects INVALID_ARGUMENT that names the field.
func TestEveryFieldOutOfRange(t *testing.T) {
	t.Parallel()
	d := start(t)
	conn := d.dial()
	validator, err := protovalidate.New()
	require.NoError(t, err)
	walked := 0
	for _, file := range []protoreflect.FileDescriptor{
		compactordv1.File_compactord_v1_session_service_proto, compactordv1.File_compactord_v1_compaction_service_proto,
		compactordv1.File_compactord_v1_store_service_proto,
	} {
		for i := range file.Services().Len() {
			s := file.Services().Get(i)
			for j := range s.Methods().Len() {
				method := s.Methods().Get(j)
				w := &walk{t: t, conn: conn, validator: validator, method: method}
				w.fields(method.Input(), nil, nil)
				walked += w.tried
			}
		}
	}
	t.Logf("%d values out of range", walked)
	require.Greater(t, walked, 300)
}

// wordsOfRules are words of the library that checks the contract's rules. Other errors have others for the same.
var wordsOfRules = regexp.MustCompile(`item\(s\)|or equal to|: value |\boneof\b|in list|\d{4}`)

type walk struct {
	t         *testing.T
	conn      *grpc.ClientConn
	validator protovalidate.Validator
	method    protoreflect.MethodDescriptor
	tried     int
}

// fields visits the fields of a message that is at path in the request. nested has the messages on the way, so that
// recursion such as Strategy in Strategy ends.
func (w *walk) fields(m protoreflect.MessageDescriptor, path []protoreflect.FieldDescriptor, nested []protoreflect.FullName) {
	if strings.HasPrefix(string(m.FullName()), "google.protobuf.") || contains(nested, m.FullName()) {
		return
	}
	nested = append(nested, m.FullName())
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		here := append(append([]protoreflect.FieldDescriptor(nil), path...), f)
		rules, err := protovalidate.ResolveFieldRules(f)
		require.NoError(w.t, err)
		for _, v := range violations(f, rules) {
			w.try(here, v)
		}
		if f.Kind() == protoreflect.MessageKind && !f.IsMap() {
			w.fields(f.Message(), here, nested)
		}
	}
}

func contains(names []protoreflect.FullName, name protoreflect.FullName) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func (w *walk) try(path []protoreflect.FieldDescriptor, v violation) {
	w.tried++
	names := make([]string, 0, len(path))
	for _, f := range path {
		names = append(names, string(f.Name()))
	}
	name := fmt.Sprintf("%s %s %s", w.method.Name(), strings.Join(names, "."), v.rule)
	req := dynamicpb.NewMessage(w.method.Input())
	m := req.ProtoReflect()
	for _, f := range path[:len(path)-1] {
		if f.IsList() {
			m = m.Mutable(f).List().AppendMutable().Message()
		} else {
			m = m.Mutable(f).Message()
		}
	}
	v.set(m, path[len(path)-1])
	last := names[len(names)-1]
	if proto.Size(req) > sentBytes() {
		var invalid *protovalidate.ValidationError
		require.ErrorAs(w.t, w.validator.Validate(req), &invalid, name)
		found := false
		for _, each := range invalid.Violations {
			found = found || strings.Contains(protovalidate.FieldPathString(each.Proto.GetField()), last)
		}
		require.True(w.t, found, "%s: %v", name, invalid)
		return
	}
	err := w.send(req)
	st := status.Convert(err)
	require.Equal(w.t, codes.InvalidArgument, st.Code(), "%s: %v", name, err)
	require.True(w.t, namesField(st, last), "%s: not named in %v", name, st.Details())
	require.NotContains(w.t, st.Message(), "regex", "%s: what is wanted is told in words", name)
	require.NotRegexp(w.t, wordsOfRules, st.Message(), name)
}

// namesField says whether a violation of the status names the field.
func namesField(st *status.Status, field string) bool {
	for _, detail := range st.Details() {
		bad, ok := detail.(*errdetails.BadRequest)
		if !ok {
			continue
		}
		for _, v := range bad.GetFieldViolations() {
			if strings.Contains(v.GetField(), field) {
				return true
			}
		}
	}
	return false
}

func (w *walk) send(req proto.Message) error {
	name := fmt.Sprintf("/%s/%s", w.method.Parent().FullName(), w.method.Name())
	answer := dynamicpb.NewMessage(w.method.Output())
	if !w.method.IsStreamingServer() {
		return w.conn.Invoke(w.t.Context(), name, req, answer)
	}
	stream, err := w.conn.NewStream(w.t.Context(), &grpc.StreamDesc{ServerStreams: true}, name)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(req); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	return stream.RecvMsg(answer)
}

func (d *daemon) dial() *grpc.ClientConn {
	conn := d.connect(grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(math.MaxInt32)))
	d.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// violations returns values that break the rules of a field, one for each rule.
func violations(f protoreflect.FieldDescriptor, rules *validate.FieldRules) []violation {
	var all []violation
	add := func(rule string, v protoreflect.Value) {
		all = append(all, violation{rule, func(m protoreflect.Message, f protoreflect.FieldDescriptor) { m.Set(f, v) }})
	}
	if f.IsList() {
		return listViolations(f, rules.GetRepeated())
	}
	if f.IsMap() {
		return mapViolations(rules.GetMap())
	}
	if rules.GetRequired() {
		all = append(all, violation{"required", func(protoreflect.Message, protoreflect.FieldDescriptor) {}})
	}
	for _, s := range stringsOutOfRange(rules.GetString()) {
		add("string", protoreflect.ValueOfString(s))
	}
	if b := rules.GetBytes(); b.GetMaxLen() > 0 {
		add("max_len", protoreflect.ValueOfBytes(make([]byte, b.GetMaxLen()+1)))
	}
	if u := rules.GetUint32(); u != nil {
		if u.GetLte() > 0 {
			add("lte", protoreflect.ValueOfUint32(u.GetLte()+1))
		}
		if u.GetGte() > 0 {
			add("gte", protoreflect.ValueOfUint32(u.GetGte()-1))
		}
	}
	if r := rules.GetDouble(); r != nil {
		add("double too large", protoreflect.ValueOfFloat64(r.GetLte()+0.001))
		add("double too small", protoreflect.ValueOfFloat64(-0.001))
		add("not a number", protoreflect.ValueOfFloat64(math.NaN()))
	}
	if e := rules.GetEnum(); e != nil {
		add("defined_only", protoreflect.ValueOfEnum(9999))
	}
	if r := rules.GetDuration(); r != nil {
		add("duration too long", message(durationpb.New(r.GetLte().AsDuration()+1)))
		add("duration too short", message(durationpb.New(r.GetGte().AsDuration()-1)))
	}
	return all
}

func message(m proto.Message) protoreflect.Value {
	return protoreflect.ValueOfMessage(m.ProtoReflect())
}

func stringsOutOfRange(r *validate.StringRules) []string {
	var all []string
	if r.GetMinBytes() > 0 {
		all = append(all, "")
	}
	if r.GetMaxBytes() > 0 {
		all = append(all, strings.Repeat("x", int(r.GetMaxBytes())+1))
	}
	if r.GetPattern() != "" {
		all = append(all, "not a name", strings.Repeat("x", 200), "ü")
	}
	return all
}

func listViolations(f protoreflect.FieldDescriptor, r *validate.RepeatedRules) []violation {
	var all []violation
	fill := func(n uint64, element func(l protoreflect.List)) func(protoreflect.Message, protoreflect.FieldDescriptor) {
		return func(m protoreflect.Message, f protoreflect.FieldDescriptor) {
			l := m.Mutable(f).List()
			for range n {
				element(l)
			}
		}
	}
	plain := func(l protoreflect.List) {
		switch f.Kind() {
		case protoreflect.MessageKind:
			l.AppendMutable()
		case protoreflect.Uint32Kind:
			l.Append(protoreflect.ValueOfUint32(1))
		case protoreflect.EnumKind:
			l.Append(protoreflect.ValueOfEnum(1))
		default:
			l.Append(protoreflect.ValueOfString("x"))
		}
	}
	if r.GetMaxItems() > 0 {
		all = append(all, violation{"max_items", fill(r.GetMaxItems()+1, plain)})
	}
	if r.GetMinItems() > 0 {
		all = append(all, violation{"min_items", fill(0, plain)})
	}
	for _, s := range stringsOutOfRange(r.GetItems().GetString()) {
		all = append(all, violation{"items", fill(1, func(l protoreflect.List) { l.Append(protoreflect.ValueOfString(s)) })})
	}
	if r.GetItems().GetEnum() != nil {
		for _, n := range []protoreflect.EnumNumber{0, 99} {
			all = append(all, violation{"items", fill(1, func(l protoreflect.List) { l.Append(protoreflect.ValueOfEnum(n)) })})
		}
	}
	return all
}

func mapViolations(r *validate.MapRules) []violation {
	put := func(n uint64, key, value string) func(protoreflect.Message, protoreflect.FieldDescriptor) {
		return func(m protoreflect.Message, f protoreflect.FieldDescriptor) {
			for i := range n {
				k := key
				if n > 1 {
					k = fmt.Sprint(i)
				}
				m.Mutable(f).Map().Set(protoreflect.ValueOfString(k).MapKey(), protoreflect.ValueOfString(value))
			}
		}
	}
	all := []violation{{"max_pairs", put(r.GetMaxPairs()+1, "k", "v")}}
	for _, key := range stringsOutOfRange(r.GetKeys().GetString()) {
		all = append(all, violation{"keys", put(1, key, "v")})
	}
	for _, value := range stringsOutOfRange(r.GetValues().GetString()) {
		all = append(all, violation{"values", put(1, "k", value)})
	}
	return all
}

// A preset's name in another spelling is suggested in the daemon's, and only if that is a name.
func TestNamesInAnotherSpelling(t *testing.T) {
	t.Parallel()
	d := start(t)
	for name, suggested := range map[string]string{
		"claude-code": " (did you mean claude_code?)", "Codex": " (did you mean codex?)", "2nd-best": "", strings.Repeat("A", 65): "",
	} {
		_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
			Policy: &compactordv1.Policy{Preset: proto.String(name)},
		})
		requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
		require.Equal(t, "policy.preset: must be a name: a small letter, then up to 63 small letters, digits and _"+suggested,
			status.Convert(err).Message())
	}
}

// For an invalid name the error describes valid names in words.
func TestPatternsOfNamesInWords(t *testing.T) {
	t.Parallel()
	d := start(t)
	_, err := d.compactions.PlanCompaction(t.Context(), &compactordv1.PlanCompactionRequest{
		SessionId: "two words", ClientPlan: &compactordv1.ClientPlan{FirstKeptIndex: proto.Uint32(1)},
		Policy: &compactordv1.Policy{Preset: proto.String("Pi")},
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.Equal(t, "session_id: must be 1 to 128 visible ASCII characters without spaces; "+
		"policy.preset: must be a name: a small letter, then up to 63 small letters, digits and _ (did you mean pi?); "+
		"client_plan.strategy: must be a name: a letter, then up to 63 letters, digits, _, . and -", status.Convert(err).Message())
}
