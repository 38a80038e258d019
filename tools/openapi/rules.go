package openapi

import (
	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// rulesOfParts names the rule that messages keep in answers only where these have their parts: an outline has none.
const rulesOfParts = "message.parts_of_role"

// messageRules are the schemas of the rules across the fields of a message. A rule that JSON Schema cannot say is only in the
// comments.
func messageRules(m protoreflect.MessageDescriptor) (schemas []any) {
	rules, _ := proto.GetExtension(m.Options(), validate.E_Message).(*validate.MessageRules)
	for _, rule := range rules.GetCel() {
		schema, ok := ruleSchema(m, rule.GetExpression())
		if !ok {
			continue
		}
		if rule.GetId() == rulesOfParts {
			schema = object{{"anyOf", []any{not(object{{"required", []any{"parts"}}, {"properties", object{{"parts", object{}}}}}), schema}}}
		}
		schemas = append(schemas, schema)
	}
	return schemas
}

// ruleSchema is the schema of the messages for which an expression is true.
func ruleSchema(m protoreflect.MessageDescriptor, expression string) (object, bool) {
	// Without macros, has() and all() stay calls, which are simpler to read than what they stand for.
	reader, err := parser.NewParser()
	if err != nil {
		return nil, false
	}
	parsed, errs := reader.Parse(common.NewTextSource(expression))
	if len(errs.GetErrors()) > 0 {
		return nil, false
	}
	t := translator{ok: true}
	schema := t.schema(parsed.Expr(), scope{"this": m})
	return schema, t.ok
}

// scope has the messages that an expression names.
type scope map[string]protoreflect.MessageDescriptor

// translator makes schemas of expressions. ok becomes false at one that it does not know.
type translator struct{ ok bool }

func (t *translator) unknown() object {
	t.ok = false
	return nil
}

// schema is the schema for which an expression is true.
func (t *translator) schema(e ast.Expr, in scope) object {
	switch e.Kind() {
	case ast.LiteralKind:
		if e.AsLiteral() == types.True {
			return object{}
		}
	case ast.SelectKind:
		// A field that is a bool.
		return t.ofField(e, in, func(f protoreflect.FieldDescriptor) object {
			if f.Kind() != protoreflect.BoolKind {
				return t.unknown()
			}
			return object{{"const", true}}
		})
	case ast.CallKind:
		return t.call(e.AsCall(), in)
	default:
	}
	return t.unknown()
}

func (t *translator) call(c ast.CallExpr, in scope) object {
	sub := func(i int) object { return t.schema(c.Args()[i], in) }
	switch c.FunctionName() {
	case operators.LogicalOr:
		return object{{"anyOf", []any{sub(0), sub(1)}}}
	case operators.LogicalAnd:
		return object{{"allOf", []any{sub(0), sub(1)}}}
	case operators.LogicalNot:
		return not(sub(0))
	case operators.Conditional:
		return object{{"if", sub(0)}, {"then", sub(1)}, {"else", sub(2)}}
	case operators.Has:
		return t.ofField(c.Args()[0], in, t.given)
	case "all":
		return t.all(c, in)
	case operators.In:
		return t.oneOf(c.Args()[0], c.Args()[1].AsList().Elements(), in)
	case operators.Equals:
		return t.equals(c.Args()[0], c.Args()[1], in)
	case operators.NotEquals:
		if c.Args()[1].Kind() != ast.LiteralKind {
			// Of two conditions: exactly one is true.
			return object{{"oneOf", []any{sub(0), sub(1)}}}
		}
		return not(t.equals(c.Args()[0], c.Args()[1], in))
	case operators.Greater:
		if isSize(c.Args()[0]) && c.Args()[1].AsLiteral().Equal(types.IntZero) == types.True {
			return t.ofField(c.Args()[0].AsCall().Target(), in, t.given)
		}
	default:
	}
	return t.unknown()
}

// not is the schema of what another one refuses.
func not(schema object) object {
	if len(schema) == 1 && schema[0].name == "not" {
		if inner, is := schema[0].value.(object); is {
			return inner
		}
	}
	return object{{"not", schema}}
}

func isSize(e ast.Expr) bool { return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "size" }

// equals compares a field, or the size of a list, with a literal.
func (t *translator) equals(what, literal ast.Expr, in scope) object {
	if literal.Kind() != ast.LiteralKind {
		return t.unknown()
	}
	if isSize(what) {
		size, isInt := literal.AsLiteral().(types.Int)
		switch {
		case !isInt:
			return t.unknown()
		case size == 0:
			return not(t.ofField(what.AsCall().Target(), in, t.given))
		}
		return t.ofField(what.AsCall().Target(), in, func(protoreflect.FieldDescriptor) object {
			return object{{"minItems", int(size)}, {"maxItems", int(size)}}
		})
	}
	if literal.AsLiteral().Equal(types.String("")) == types.True {
		return not(t.ofField(what, in, t.given))
	}
	return t.oneOf(what, []ast.Expr{literal}, in)
}

// oneOf says that a field of an enum has one of these numbers.
func (t *translator) oneOf(what ast.Expr, numbers []ast.Expr, in scope) object {
	unset := false
	schema := t.ofField(what, in, func(f protoreflect.FieldDescriptor) object {
		if f.Kind() != protoreflect.EnumKind {
			return t.unknown()
		}
		var names []any
		for _, e := range numbers {
			number, isInt := e.AsLiteral().(types.Int)
			value := f.Enum().Values().ByNumber(protoreflect.EnumNumber(number))
			if !isInt || value == nil {
				return t.unknown()
			}
			unset = unset || number == 0
			names = append(names, string(value.Name()))
		}
		return object{{"enum", names}}
	})
	if unset && t.ok {
		// A field that is left out has the first value.
		return object{{"anyOf", []any{schema, not(t.ofField(what, in, func(protoreflect.FieldDescriptor) object { return object{} }))}}}
	}
	return schema
}

// all says that a condition is true for all elements of a list.
func (t *translator) all(c ast.CallExpr, in scope) object {
	f := t.field(c.Target(), in)
	if f == nil || f.Message() == nil || c.Args()[0].Kind() != ast.IdentKind {
		return t.unknown()
	}
	each := t.schema(c.Args()[1], scope{c.Args()[0].AsIdent(): f.Message()})
	return object{{"properties", object{{f.JSONName(), object{{"items", each}}}}}}
}

// given is the schema of a field that is not empty.
func (t *translator) given(f protoreflect.FieldDescriptor) object {
	switch {
	case f.IsList():
		return object{{"minItems", 1}}
	case f.HasPresence():
		return object{}
	case f.Kind() == protoreflect.StringKind:
		return object{{"minLength", 1}}
	default:
		return t.unknown()
	}
}

// field returns the field of a message in scope that an expression names; nil for another expression.
func (t *translator) field(e ast.Expr, in scope) protoreflect.FieldDescriptor {
	if e.Kind() == ast.SelectKind && e.AsSelect().Operand().Kind() == ast.IdentKind {
		if m := in[e.AsSelect().Operand().AsIdent()]; m != nil {
			return m.Fields().ByName(protoreflect.Name(e.AsSelect().FieldName()))
		}
	}
	return nil
}

// ofField says that a message has a field with a schema: one of its own, or one of the first element of a list.
func (t *translator) ofField(e ast.Expr, in scope, of func(protoreflect.FieldDescriptor) object) object {
	if f := t.field(e, in); f != nil {
		return object{{"required", []any{f.JSONName()}}, {"properties", object{{f.JSONName(), of(f)}}}}
	}
	if e.Kind() != ast.SelectKind || e.AsSelect().Operand().Kind() != ast.CallKind {
		return t.unknown()
	}
	at := e.AsSelect().Operand().AsCall()
	if at.FunctionName() != operators.Index || at.Args()[1].Kind() != ast.LiteralKind || at.Args()[1].AsLiteral().Equal(types.IntZero) != types.True {
		return t.unknown()
	}
	list := t.field(at.Args()[0], in)
	if list == nil || list.Message() == nil {
		return t.unknown()
	}
	f := list.Message().Fields().ByName(protoreflect.Name(e.AsSelect().FieldName()))
	if f == nil {
		return t.unknown()
	}
	first := object{{"required", []any{f.JSONName()}}, {"properties", object{{f.JSONName(), of(f)}}}}
	return object{{"required", []any{list.JSONName()}}, {"properties", object{{list.JSONName(), object{{"minItems", 1}, {"prefixItems", []any{first}}}}}}}
}
