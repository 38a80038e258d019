package main

// passengerTasks are about vehicles, notices and search.
func passengerTasks() []task {
	return []task{
		{
			ticket: "FER-136",
			ask:    "FER-136: a camper of exactly 2.10 m was charged as high vehicle at one desk and as car at the other. The tariff says: up to and including 2.10 m is a car. Motorcycles have no height limit. Please make one function of it that everybody calls.",
			plan:   []string{"Find all places that decide the category", "One function with the tariff's limits", "Test the borders to the centimetre"},
			think:  "Off by one at the border, and the decision is duplicated. Grep HeightCentimetres and 210.",
			reads:  []string{"internal/fare/model.go"},
			grep:   "HeightCentimetres",
			file:   "internal/vehicle/model.go",
			before: `// CategoryOf finds the category of the tariff.
func CategoryOf(height, length int64) string {
	if height >= 210 {
		return "high"
	}
	if length > 600 {
		return "long"
	}
	return "car"
}`,
			wrong: `// CategoryOf finds the category of the tariff: up to and including 2.10 m is a car.
func CategoryOf(height, length int64) string {
	if height > 210 {
		return "high"
	}
	if length > 600 {
		return "long"
	}
	return "car"
}`,
			right: `// The tariff's limits, each included in the lower category.
const (
	carHeight = 210
	carLength = 600
)

// CategoryOf finds the category of the tariff. It is the only place that does: desks, app and gate call it.
func CategoryOf(kind string, height, length int64) string {
	switch {
	case kind == "motorcycle":
		return "motorcycle"
	case height > carHeight && length > carLength:
		return "lorry"
	case height > carHeight:
		return "high"
	case length > carLength:
		return "long"
	default:
		return "car"
	}
}`,
			finding:  "The border is wrong here (`>=`), and the gate has a copy of its own with `>`: that is the second desk. First the border, then the copy.",
			test:     "TestTariffBorders",
			testFile: "internal/vehicle/model_test.go",
			testCode: `func TestTariffBorders(t *testing.T) {
	for _, c := range []struct {
		kind           string
		height, length int64
		want           string
	}{
		{"car", 210, 600, "car"},
		{"car", 211, 600, "high"},
		{"car", 210, 601, "long"},
		{"camper", 211, 601, "lorry"},
		{"motorcycle", 240, 230, "motorcycle"},
	} {
		if got := CategoryOf(c.kind, c.height, c.length); got != c.want {
			t.Errorf("%s of %d x %d: %s, want %s", c.kind, c.height, c.length, got, c.want)
		}
	}
}`,
			failure: "    model_test.go:104: camper of 211 x 601: high, want lorry\n    model_test.go:104: motorcycle of 240 x 230: high, want motorcycle",
			insight: "Page 3 of the tariff has a fourth category for what is both high and long, which the copy at the gate knew and this function did not, and motorcycles come first of all. I'll take both over, so that the gate can call it.",
			done:    "FER-136: `CategoryOf` is the one place for the tariff now: 2.10 m and 6.00 m are included in the lower category, high and long together is a lorry, motorcycles have no limit. The copy at the gate is gone.",
			commit:  "Decide the category of a vehicle in one place",
		},
		{
			ticket: "FER-124",
			ask:    "FER-124: when the text message gateway rejects one number, all notices behind it wait for ever. Saturday 312 people did not hear about the delay because of one typo. After 5 attempts a notice should be put aside, and the others must never wait for it.",
			plan:   []string{"Read the notice worker", "Put aside after 5 attempts, with backoff in between", "Others go on meanwhile", "A metric for what was put aside"},
			think:  "Head-of-line blocking: the worker returns on the first error, and takes the oldest first. Poison message. Record attempts, next attempt time; take by next_attempt_at.",
			reads:  []string{"internal/voucher/service.go"},
			grep:   "Attempts",
			look:   &look{command: "journalctl -u ferryd --since '2026-05-16 07:00' --until '2026-05-16 07:20' | grep component=notice", output: noticeLog},
			file:   "internal/notice/service.go",
			before: `// Drain sends what is queued.
func (s *Service) Drain(ctx context.Context, send Sender) error {
	page, err := s.store.List(ctx, StateQueued, "", 100)
	if err != nil {
		return err
	}
	for _, x := range page.Items {
		if err := send(ctx, x); err != nil {
			return err
		}
		if _, err := s.Change(ctx, x.ID, StateSent, "delivered"); err != nil {
			return err
		}
	}
	return nil
}`,
			wrong: `// maxAttempts is after how many failures a notice is put aside.
const maxAttempts = 5

// Drain sends what is queued. What fails is tried again at the next run, and put aside after maxAttempts.
func (s *Service) Drain(ctx context.Context, send Sender) error {
	page, err := s.store.List(ctx, StateQueued, "", 100)
	if err != nil {
		return err
	}
	for _, x := range page.Items {
		if err := send(ctx, x); err != nil {
			x.Attempts++
			if x.Attempts >= maxAttempts {
				_, err = s.Change(ctx, x.ID, StateDead, err.Error())
			} else {
				err = s.store.Update(ctx, x)
			}
			if err != nil {
				return err
			}
			continue
		}
		if _, err := s.Change(ctx, x.ID, StateSent, "delivered"); err != nil {
			return err
		}
	}
	return nil
}`,
			right: `// maxAttempts is after how many failures a notice is put aside.
const maxAttempts = 5

// Drain sends all that is queued and due. What fails waits twice as long before each further attempt (1, 2, 4, 8
// minutes), and is put aside after maxAttempts; nobody waits for it. A broken connection is nobody's fault: it ends the
// run and counts no attempt.
func (s *Service) Drain(ctx context.Context, send Sender) error {
	due, err := s.store.due(ctx, s.now(), 100)
	if err != nil {
		return err
	}
	for _, x := range due {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := send(ctx, x)
		switch {
		case errors.Is(err, ErrGatewayDown):
			return err
		case err == nil:
			_, err = s.Change(ctx, x.ID, StateSent, "delivered")
		case x.Attempts+1 >= maxAttempts:
			s.dead.Add(ctx, 1)
			_, err = s.Change(ctx, x.ID, StateDead, "rejected by the gateway")
		default:
			err = s.store.postpone(ctx, x, s.now().Add(time.Minute<<x.Attempts))
		}
		if err != nil && !errors.Is(err, ErrStale) {
			return err
		}
	}
	return nil
}`,
			finding:  "`Drain` returns at the first error and begins with the oldest again: one number that is always rejected stops everybody behind it. I'll count attempts, go on with the others, and put a notice aside after the fifth.",
			test:     "TestOneBadNumberStopsNobody",
			testFile: "internal/notice/model_test.go",
			testCode: `func TestOneBadNumberStopsNobody(t *testing.T) {
	service, clock := newTestService(t)
	for i := range 312 {
		service.queue(t, fmt.Sprintf("+47%08d", i))
	}
	sent := 0
	send := func(_ context.Context, x *Notice) error {
		if x.Recipient == "+4700000003" {
			return errors.New("number not assigned")
		}
		sent++
		return nil
	}
	for range 40 {
		if err := service.Drain(t.Context(), send); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Minute)
	}
	if sent != 311 {
		t.Errorf("%d of 311 were sent", sent)
	}
	if n := service.count(t, StateDead); n != 1 {
		t.Errorf("%d put aside, want 1", n)
	}
}`,
			failure: "    model_test.go:127: 0 put aside, want 1\n    model_test.go:124: store: 5 updates of not_00000003 within 40 runs, want 5 with 1, 2, 4 and 8 minutes in between: got 0s, 0s, 0s, 0s",
			insight: "Without a time for the next attempt all five failures happen within five runs, which for a gateway that is down for a minute puts every notice aside: worse than before. It needs a due time, a doubling wait, and a distinction between a number that is rejected and a gateway that does not answer.",
			done:    "FER-124: notices are sent when they are due; a rejected one waits 1, 2, 4, 8 minutes and is put aside after the 5th attempt, counted by `ferry_notices_dead_total`; a gateway that does not answer (ErrGatewayDown) ends the run and counts no attempt. Never is anybody behind it kept waiting. Decision: due time in the table rather than a queue in memory, so that a restart loses nothing.",
			asides: []aside{{
				user:   "And who looks at the dead ones? Please don't page anybody at night for that.",
				answer: "Nobody yet. I'd add a line to the morning report of the customer desk (count, and a link to /v1/notices?state=dead) rather than an alert; the metric is there if ops want a graph. I'll leave the report to you, as it lives in the reporting repository.",
			}},
			commit: "Put aside notices that cannot be delivered",
		},
		{
			ticket: "FER-140",
			ask:    "FER-140: TestThrottleForgets in internal/search is flaky, 1 in 30 in CI, and the limiter behind it leaks: 1.9 GB after a week. Fix both, please. No sleeps in tests, they only make it slow *and* flaky.",
			plan:   []string{"Read the limiter and its test", "Bound its memory", "Replace the sleep by a clock", "Run the test 500 times"},
			think:  "Map per client without eviction. Test uses time.Sleep. Inject a clock. Bound: evict what is full again, since a full bucket is the same as none.",
			reads:  []string{"internal/sailing/http.go"},
			grep:   "throttle",
			look:   &look{command: "go test ./internal/search -run TestThrottleForgets -count=60", output: flakyRuns, failed: true},
			file:   "internal/search/service.go",
			before: `// throttle allows each client a few searches a second.
type throttle struct {
	mu      sync.Mutex
	clients map[string]*bucket
}

type bucket struct {
	tokens float64
	filled time.Time
}

func (t *throttle) allow(client string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, ok := t.clients[client]
	if !ok {
		b = &bucket{tokens: 5, filled: time.Now()}
		t.clients[client] = b
	}
	b.tokens = min(5, b.tokens+time.Since(b.filled).Seconds())
	b.filled = time.Now()
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}`,
			wrong: `// throttle allows each client a few searches a second. It forgets clients that have been away.
type throttle struct {
	mu      sync.Mutex
	now     func() time.Time
	clients map[string]*bucket
}

type bucket struct {
	tokens float64
	filled time.Time
}

func (t *throttle) allow(client string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for key, b := range t.clients {
		if now.Sub(b.filled) > 5*time.Second {
			delete(t.clients, key)
		}
	}
	b, ok := t.clients[client]
	if !ok {
		b = &bucket{tokens: 5, filled: now}
		t.clients[client] = b
	}
	b.tokens = min(5, b.tokens+now.Sub(b.filled).Seconds())
	b.filled = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}`,
			right: `// burst is how many searches a client may make at once; one more is allowed each second.
const burst = 5

// throttle allows each client a few searches a second. A client that has been away for burst seconds has its whole
// burst again, which is the same as being unknown: so there are two maps, and each burst seconds the older is dropped.
// Memory is bounded by the clients of the last 2 x burst seconds, and no call looks at more than two entries.
type throttle struct {
	mu           sync.Mutex
	now          func() time.Time
	turned       time.Time
	young, older map[string]bucket
}

type bucket struct {
	tokens float64
	filled time.Time
}

func (t *throttle) allow(client string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if away := now.Sub(t.turned); away >= burst*time.Second {
		t.older, t.young, t.turned = t.young, make(map[string]bucket), now
		if away >= 2*burst*time.Second {
			t.older = nil
		}
	}
	b, known := t.young[client]
	if !known {
		b, known = t.older[client]
	}
	if !known {
		b = bucket{tokens: burst, filled: now}
	}
	b.tokens = min(burst, b.tokens+now.Sub(b.filled).Seconds())
	b.filled = now
	allowed := b.tokens >= 1
	if allowed {
		b.tokens--
	}
	t.young[client] = b
	return allowed
}`,
			finding:  "The limiter never forgets a client, and its test sleeps 1.01 s and hopes that a second has passed by time.Now. I'll give it a clock and let it forget.",
			test:     "TestThrottleForgets",
			testFile: "internal/search/model_test.go",
			testCode: `func TestThrottleForgets(t *testing.T) {
	now := time.Date(2026, 7, 4, 12, 0, 0, 0, time.UTC)
	th := newThrottle(func() time.Time { return now })
	for i := range 100_000 {
		if !th.allow(strconv.Itoa(i)) {
			t.Fatal("a new client is refused")
		}
		if i%1000 == 0 {
			now = now.Add(time.Second)
		}
	}
	if n := th.size(); n > 11_000 {
		t.Errorf("%d clients are remembered", n)
	}
	for range burst {
		th.allow("one")
	}
	if th.allow("one") {
		t.Error("the burst is unbounded")
	}
	now = now.Add(time.Second)
	if !th.allow("one") || th.allow("one") {
		t.Error("a second gives exactly one search")
	}
}`,
			failure: "    model_test.go:76: test took 41.2s: each call walks all clients under the lock\npanic: test timed out after 30s",
			insight: "Forgetting by walking the whole map at every call is quadratic: with 10,000 clients each search would take a millisecond under one lock. Two generations do it in constant time: a bucket that was not touched for 5 seconds is full, and a full bucket is the same as no bucket.",
			done:    "FER-140: the limiter keeps two generations and drops the older every 5 s, so memory is bounded by the clients of the last 10 s; a call looks at two entries at most. The test has a clock and no sleep: 500 runs in 1.8 s, none failed.",
			commit:  "Bound the search limiter, and test it by a clock",
		},
	}
}
