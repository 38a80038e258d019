package service_test

import (
	"context"
	"sync"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// scripted is a summarizer that does what a test says.
type scripted struct {
	name string
	do   func(ctx context.Context, req *summarizers.Request, p summarizers.Progress) (*summarizers.Summary, error)

	mu       sync.Mutex
	requests []*summarizers.Request
}

func (s *scripted) Name() string { return s.name }

func (s *scripted) Summarize(
	ctx context.Context, req *summarizers.Request, p summarizers.Progress,
) (*summarizers.Summary, error) {
	s.mu.Lock()
	seen := *req
	s.requests = append(s.requests, &seen)
	s.mu.Unlock()
	return s.do(ctx, req, p)
}

func (s *scripted) seen() []*summarizers.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// faithful writes what the extractive summarizer writes.
func faithful(
	ctx context.Context, req *summarizers.Request, p summarizers.Progress,
) (*summarizers.Summary, error) {
	return extractive.New().Summarize(ctx, req, p)
}

// by returns the policy with a summarizer, and with a fallback if one is given.
func by(name string, fallback compactordv1.SummaryFallback, policy *compactordv1.Policy) *compactordv1.Policy {
	policy.Summary = &compactordv1.SummaryPolicy{Summarizer: proto.String(name), Fallback: fallback.Enum()}
	return policy
}

const (
	noFallback  = compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL
	fallingBack = compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE
)

// unheard is a Progress that ignores everything.
type unheard struct{}

func (unheard) Read(uint32) {}

func (unheard) Text(string) {}

func (unheard) Again() {}
