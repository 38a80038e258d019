package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// policyPrefix begins the paths of a mask that name one field of the policy.
const policyPrefix = "policy."

// UpdateSession implements SessionService.
func (s *Service) UpdateSession(
	ctx context.Context, req *compactordv1.UpdateSessionRequest,
) (*compactordv1.UpdateSessionResponse, error) {
	if err := checkMask(req.GetUpdateMask().GetPaths()); err != nil {
		return nil, err
	}
	answer := &compactordv1.UpdateSessionResponse{}
	err := s.logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if known, err := s.logs.Recorded(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		w := s.logs.Begin(row)
		if policy, changes := changedPolicy(w.Row().GetPolicy(), req); changes {
			// What was there and what is new may be too large together.
			if err := policies.CheckSize(&compactordv1.UpdateSessionRequest{Policy: policy}); err != nil {
				return nil, err
			}
			if err := s.changePolicy(ctx, w, policy); err != nil {
				return nil, err
			}
			answer.Warnings = s.policies.Warnings(w.Row().GetPolicy(), w.Row().GetResolvedPolicy())
		}
		if slices.Contains(req.GetUpdateMask().GetPaths(), "labels") {
			w.Row().Labels = req.GetLabels()
		}
		if slices.Contains(req.GetUpdateMask().GetPaths(), "title") {
			w.Row().Title = req.GetTitle()
		}
		answer.Session = sessionOf(w.Row())
		return w, w.Remember(req, answer)
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// checkMask refuses paths that name nothing that can be changed, or that say twice what becomes of it.
func checkMask(paths []string) error {
	if len(paths) == 0 {
		return apierror.InvalidField("update_mask.paths", "name at least one of `policy`, `labels` and `title`")
	}
	for i, path := range paths {
		field := fmt.Sprintf("update_mask.paths[%d]", i)
		of, isPart := strings.CutPrefix(path, policyPrefix)
		switch {
		case slices.Contains(paths[:i], path):
			return apierror.InvalidField(field, "is named twice")
		case isPart && slices.Contains(paths, "policy"):
			return apierror.InvalidField(field, "is a part of `policy`, which is replaced as a whole: name one of them")
		case isPart && policyField(of) == nil:
			return apierror.InvalidField(field, "a policy has no such field")
		case !isPart && path != "policy" && path != "labels" && path != "title":
			return apierror.InvalidField(field, "only `policy` or its fields, `labels` and `title` can be changed")
		}
	}
	return nil
}

func policyField(name string) protoreflect.FieldDescriptor {
	return (*compactordv1.Policy)(nil).ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
}

// changedPolicy returns what a request makes of the policy that a session was given, and whether it says anything about it.
func changedPolicy(held *compactordv1.Policy, req *compactordv1.UpdateSessionRequest) (*compactordv1.Policy, bool) {
	paths := req.GetUpdateMask().GetPaths()
	if slices.Contains(paths, "policy") {
		return req.GetPolicy(), true
	}
	changed, given, says := &compactordv1.Policy{}, proto.CloneOf(req.GetPolicy()), false
	proto.Merge(changed, held)
	for _, path := range paths {
		name, isPart := strings.CutPrefix(path, policyPrefix)
		if !isPart {
			continue
		}
		says = true
		if field := policyField(name); given.ProtoReflect().Has(field) {
			changed.ProtoReflect().Set(field, given.ProtoReflect().Get(field))
		} else {
			changed.ProtoReflect().Clear(field)
		}
	}
	return changed, says
}

func (s *Service) changePolicy(ctx context.Context, w *sessionlog.Write, policy *compactordv1.Policy) error {
	given, err := s.policies.OfSession(ctx, policy)
	if err != nil {
		return err
	}
	resolved, err := s.policies.ResolveGiven(ctx, given)
	if err != nil {
		return err
	}
	change := &compactordv1.PolicyChange{Given: given, Resolved: resolved}
	if session.ChangesView(w.Before().GetResolvedPolicy(), resolved) {
		change.ViewChange = &compactordv1.ViewChange{}
	}
	if _, err := w.Record(ctx, &compactordv1.Record{
		Kind: &compactordv1.Record_PolicyChange{PolicyChange: change},
	}, nil); err != nil {
		return err
	}
	w.Row().Policy, w.Row().ResolvedPolicy = given, resolved
	return nil
}
