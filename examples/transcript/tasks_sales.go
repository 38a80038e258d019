package main

// salesTasks are about holds, fares, payments and vouchers.
func salesTasks() []task {
	return []task{
		{
			ticket: "FER-118",
			ask: "Morning! First FER-118: on the night the clocks changed, holds on the 02:30 boat expired an hour early, and the desk in " +
				"Harbourne had 14 angry people. Please find out why and fix it, with a test that would have caught it.\n\n" +
				"A few rules for the whole day: money is always int64 cents, never float. Don't touch anything under internal/legacy. " +
				"No new dependencies without asking me. And the public JSON under /v1 only ever grows: never rename or remove a field.",
			plan:  []string{"Find where ExpiresAt of a hold is computed", "Reproduce with a test on the night of 2026-03-29", "Fix, run all tests of internal/hold", "Report to the user, commit for FER-118"},
			think: "Expiry an hour early on the night of the clock change smells like local wall-clock arithmetic: adding a duration to a local date, or building the deadline by time.Date in the port's zone. I'll read the model and the service of hold and look for LoadLocation.",
			reads: []string{"internal/sailing/model.go"},
			grep:  "ExpiresAt",
			look:  &look{command: "journalctl -u ferryd --since '2026-03-29 00:30' --until '2026-03-29 03:00' | grep component=hold", output: holdLog},
			file:  "internal/hold/model.go",
			before: `// Deadline is when a hold falls free: keep after now, by the clock of the port, and never behind the sailing.
func Deadline(now, departs time.Time, port *time.Location, keep time.Duration) time.Time {
	local := now.In(port)
	d := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(),
		local.Minute()+int(keep.Minutes()), local.Second(), 0, port)
	if d.After(departs) {
		return departs
	}
	return d
}`,
			wrong: `// Deadline is when a hold falls free: keep after now, and never behind the sailing.
func Deadline(now, departs time.Time, port *time.Location, keep time.Duration) time.Time {
	d := now.In(port).Add(keep)
	if d.After(departs) {
		return departs
	}
	return d
}`,
			right: `// Deadline is when a hold falls free: keep after now, and never behind the sailing. It is counted in elapsed time and
// returned in UTC: wall clocks repeat or skip an hour twice a year, and port is only for printing.
func Deadline(now, departs time.Time, _ *time.Location, keep time.Duration) time.Time {
	d := now.UTC().Add(keep).Truncate(time.Second)
	if departs = departs.UTC(); d.After(departs) {
		return departs
	}
	return d
}`,
			finding:  "`Deadline` in internal/hold/model.go adds the minutes to the wall clock: `time.Date(..., local.Minute()+int(keep.Minutes()), ..., port)`. At 01:45 with 30 minutes that asks for 02:15, which does not exist on 2026-03-29, and Go resolves it to 01:15 UTC+1, an hour too early. I'll count in elapsed time instead.",
			test:     "TestHoldSurvivesClockChange",
			testFile: "internal/hold/model_test.go",
			testCode: `func TestHoldSurvivesClockChange(t *testing.T) {
	port, err := time.LoadLocation("Europe/Oslo")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 29, 0, 45, 0, 250_000_000, time.UTC) // 01:45 in the port
	departs := time.Date(2026, 3, 29, 4, 0, 0, 0, time.UTC)
	want := time.Date(2026, 3, 29, 1, 15, 0, 0, time.UTC)
	if got := Deadline(now, departs, port, 30*time.Minute); got != want {
		t.Errorf("Deadline() = %s, want %s", got, want)
	}
}`,
			failure: "    model_test.go:83: Deadline() = 2026-03-29 03:15:00.25 +0200 CEST, want 2026-03-29 01:15:00 +0000 UTC",
			insight: "The moment is right now, but two things leak: it is in the port's zone, so `==` and the JSON differ from what the store returns, and it carries a quarter of a second that the old code cut off. The column is timestamptz(0), so an insert followed by a read would differ. I'll return whole seconds in UTC.",
			done:    "FER-118 is fixed. `Deadline` added minutes to the wall clock, and on 2026-03-29 02:15 does not exist in Europe/Oslo. It now adds elapsed time and returns whole seconds in UTC; `port` stays in the signature since three callers pass it. `TestHoldSurvivesClockChange` covers the night in March.",
			asides: []aside{{
				user:   "Does the autumn night work too? 02:30 exists twice then.",
				answer: "Yes. Elapsed time knows no repeated hour: 30 minutes after the first 02:15 is the first 02:45, and the sailing's departure is stored in UTC, so it is not ambiguous either. What remains ambiguous is the printed time on the ticket, 02:45 without an offset; that was so before and I left it alone.",
			}},
			commit: "Count the deadline of a hold in elapsed time",
		},
		{
			ticket: "FER-121",
			ask: "Next, FER-121. Accounting says child fares are sometimes a cent too low compared with the printed price list. Example from them: " +
				"HAR-SKA child, base 29.50, discount 65.65 % gives 10.13 on the list, we charge 10.12. The list rounds half up. Tax is never discounted, please keep it so.",
			plan:  []string{"Read how discounts are computed in internal/fare", "Replace float arithmetic by integers, half up", "Test with accounting's example and the borders", "Run the tests of fare and payment"},
			think: "Half a cent lost: either float64 truncation or integer division. The rule from the user: int64 cents, never float. Discounts probably come as percent with two decimals, so basis points.",
			reads: []string{"internal/payment/model.go"},
			grep:  "float64",
			file:  "internal/fare/model.go",
			before: `// Discounted returns the price after a discount in percent. Tax is not discounted.
func (x *Fare) Discounted(percent float64) int64 {
	return int64(float64(x.BaseCents)*(1-percent/100)) + x.TaxCents
}`,
			wrong: `// Discounted returns the price after a discount in basis points (6565 is 65.65 %). Tax is not discounted.
func (x *Fare) Discounted(basisPoints int64) int64 {
	return x.BaseCents*(10_000-basisPoints)/10_000 + x.TaxCents
}`,
			right: `// Discounted returns the price after a discount in basis points (6565 is 65.65 %), rounded half up as the printed list
// is. Tax is not discounted.
func (x *Fare) Discounted(basisPoints int64) int64 {
	basisPoints = min(max(basisPoints, 0), 10_000)
	return (x.BaseCents*(10_000-basisPoints)+5_000)/10_000 + x.TaxCents
}`,
			finding:  "`Discounted` computes in float64 and truncates: 2950 * (1 - 0.6565) is 1013.3249999999999, and other cases land a hair below the half. I'll take basis points and int64 throughout.",
			test:     "TestChildFareRoundsHalfUp",
			testFile: "internal/fare/model_test.go",
			testCode: `func TestChildFareRoundsHalfUp(t *testing.T) {
	for _, c := range []struct{ base, tax, basisPoints, want int64 }{
		{2950, 310, 6565, 1013 + 310},
		{2950, 0, 5000, 1475},
		{1025, 0, 5000, 513}, // 512.5
		{1, 0, 5000, 1},
		{2950, 310, 0, 3260},
		{2950, 310, 10_000, 310},
		{2950, 310, 12_000, 310},
	} {
		f := &Fare{BaseCents: c.base, TaxCents: c.tax}
		if got := f.Discounted(c.basisPoints); got != c.want {
			t.Errorf("%d at %d: got %d, want %d", c.base, c.basisPoints, got, c.want)
		}
	}
}`,
			failure: "    model_test.go:97: 1025 at 5000: got 512, want 513\n    model_test.go:97: 1 at 5000: got 0, want 1\n    model_test.go:97: 2950 at 12000: got -280, want 310",
			insight: "Integer division truncates as the float did, so the half is still lost, and a discount over 100 % now eats the tax. Adding half the divisor before dividing rounds half up for amounts that are not negative, and basis points are clamped to 0..10000.",
			done:    "FER-121 is fixed: `Discounted` takes basis points and rounds half up in int64, tax is added afterwards and never discounted, discounts over 100 % stop at the tax. Accounting's example gives 10.13 now.",
			asides: []aside{{
				user:   "Why basis points and not a rational type?",
				answer: "The price list has two decimals of a percent at most, so basis points hold every discount exactly and stay an int64 column. A rational type would bring either a dependency or math/big into the fare path for no case that exists. If half basis points ever appear, the column can be multiplied by ten.",
			}},
			commit: "Round discounted fares half up, in integers",
		},
		{
			ticket: "FER-102",
			ask: "FER-102, the serious one: on 4 July we oversold the 06:30 to Skarvik by 3 seats. Two desks held the last seats at the same moment. " +
				"I want this impossible, not unlikely. Please no advisory locks, ops had trouble with those behind the connection pooler.",
			plan:  []string{"Read how seats are taken in internal/sailing and internal/hold", "Write a test with many concurrent holds that shows the overselling", "Make taking seats one conditional statement", "Check what callers do with ErrFull", "Run with -race 50 times"},
			think: "Read-then-write on seats_left without a lock or a condition. The user excludes advisory locks. Options: SELECT FOR UPDATE, SERIALIZABLE with retry, or a single conditional UPDATE ... WHERE seats_left >= n. The last is the simplest: one statement, atomic, no retry.",
			reads: []string{"internal/hold/service.go", "internal/hold/store.go"},
			grep:  "SeatsLeft",
			look:  &look{command: "psql ferry -c \"SELECT id, seats, state, created_at FROM holds WHERE sailing_id = 'sai_7f21' ORDER BY created_at DESC LIMIT 24\"", output: holdRows},
			file:  "internal/sailing/store.go",
			before: `// Take takes seats of a sailing.
func (s *Store) Take(ctx context.Context, id string, seats int64) error {
	x, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	if x.SeatsLeft < seats {
		return ErrFull
	}
	_, err = s.pool.Exec(ctx, ` + "`UPDATE sailings SET seats_left = $2 WHERE id = $1`" + `, id, x.SeatsLeft-seats)
	return err
}

// ErrFull says that there are not as many seats left.
var ErrFull = errors.New("sailing: not enough seats")`,
			wrong: `// Take takes seats of a sailing. The condition is part of the statement, so that two cannot take the same seat.
func (s *Store) Take(ctx context.Context, id string, seats int64) error {
	tag, err := s.pool.Exec(ctx,
		` + "`UPDATE sailings SET seats_left = seats_left - $2 WHERE id = $1 AND seats_left >= $2`" + `, id, seats)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrFull
	}
	return nil
}

// ErrFull says that there are not as many seats left.
var ErrFull = errors.New("sailing: not enough seats")`,
			right: `// Take takes seats of a sailing that still sells. The condition is part of the statement, so that two cannot take the
// same seat; the check constraint sailings_seats_left_check is the second net.
func (s *Store) Take(ctx context.Context, id string, seats int64) error {
	if seats <= 0 {
		return &FieldError{"seats", "must be positive"}
	}
	tag, err := s.pool.Exec(ctx,
		` + "`UPDATE sailings SET seats_left = seats_left - $2, revision = revision + 1, updated_at = now()\n\t\t WHERE id = $1 AND state = 'planned' AND seats_left >= $2`" + `, id, seats)
	if err != nil {
		return fmt.Errorf("sailing: take %d of %s: %w", seats, id, err)
	}
	if tag.RowsAffected() == 1 {
		return nil
	}
	// Only to say which it was; nothing is decided by it.
	if _, err := s.Get(ctx, id); err != nil {
		return err
	}
	return ErrFull
}

// ErrFull says that there are not as many seats left, or that the sailing is no longer sold.
var ErrFull = errors.New("sailing: not enough seats")`,
			finding:  "Confirmed: `Take` reads seats_left, compares in Go, and writes an absolute value. Two transactions at READ COMMITTED both read 3, both write 0, and six seats are gone. I'll move the condition into the UPDATE, which takes the row lock and checks again after waiting. No advisory lock, no retry loop.",
			test:     "TestConcurrentHoldsNeverOversell",
			testFile: "internal/sailing/model_test.go",
			testCode: `func TestConcurrentHoldsNeverOversell(t *testing.T) {
	store := dbtest.Store(t, NewStore)
	x := dbtest.Insert(t, store, validSailing())
	var sold atomic.Int64
	var desks sync.WaitGroup
	for range 64 {
		desks.Go(func() {
			for {
				switch err := store.Take(t.Context(), x.ID, 3); {
				case errors.Is(err, ErrFull):
					return
				case err != nil:
					t.Error(err)
					return
				}
				sold.Add(3)
			}
		})
	}
	desks.Wait()
	have, err := store.Get(t.Context(), x.ID)
	if err != nil {
		t.Fatal(err)
	}
	if have.SeatsLeft < 0 || sold.Load()+have.SeatsLeft != x.SeatsLeft {
		t.Errorf("sold %d, left %d, had %d", sold.Load(), have.SeatsLeft, x.SeatsLeft)
	}
	if have.Revision == x.Revision {
		t.Error("the revision did not move, so a stale Update would undo the sale")
	}
}`,
			failure: "    model_test.go:118: the revision did not move, so a stale Update would undo the sale",
			insight: "Good that the test looks at the revision: the numbers are right now, but Update writes all columns of what it read. Without counting up the revision, a captain's change to the vessel that was read before the sale would write the old seats_left back, and we'd oversell by another road. I'll count it up, and also refuse sailings that are boarding or gone, and non-positive seats.",
			done:    "FER-102: seats are taken by one conditional UPDATE that also counts up the revision, so neither a second desk nor a stale Update can sell a seat twice. 50 runs of TestConcurrentHoldsNeverOversell under -race are clean (64 desks, 212 seats). Decision: conditional UPDATE rather than SERIALIZABLE with retries, since it needs no retry and no lock beyond the row; advisory locks were ruled out by you.",
			asides: []aside{
				{
					user:   "Is there a check constraint in the database as well? I'd like belt and braces.",
					look:   &look{command: "psql ferry -c '\\d sailings' | sed -n '/Indexes/,$p'", output: constraints},
					answer: "There is: `sailings_seats_left_check CHECK (seats_left >= 0)` came with migration 0031. It did not help on 4 July, because the old code wrote absolute values that were never negative. Together with the conditional UPDATE it is a real second net.",
				},
			},
			commit: "Take seats by one conditional update",
		},
		{
			ticket: "FER-130",
			ask: "FER-130: nordpay sends some webhooks twice, and on Tuesday payment NP-4102-77 was captured twice in our books. Their docs say the event id is unique, " +
				"but the second delivery can arrive before we have answered the first. Fix the handling please. Keep answering 200 to duplicates, else they retry for three days.",
			plan:  []string{"Read the webhook path in internal/payment", "Make handling idempotent by event id within the transaction", "Test: same event 2x, concurrently and in sequence", "Answer 200 to duplicates"},
			think: "A duplicate that arrives during the first: so checking before the transaction is a race. Insert the event id into a table with a unique key in the same transaction as the capture; ON CONFLICT DO NOTHING and rows affected tells.",
			reads: []string{"internal/hold/model.go"},
			grep:  "Webhook",
			look:  &look{command: "psql ferry -c \"SELECT * FROM payment_events WHERE reference = 'NP-4102-77'\"", output: paymentRows},
			file:  "internal/payment/service.go",
			before: `// Webhook books what the provider reports.
func (s *Service) Webhook(ctx context.Context, event ProviderEvent) error {
	seen, err := s.store.SeenEvent(ctx, event.ID)
	if err != nil || seen {
		return err
	}
	if _, err := s.Change(ctx, event.PaymentID, StateCaptured, event.ID); err != nil {
		return err
	}
	return s.store.RememberEvent(ctx, event.ID)
}`,
			wrong: `// Webhook books what the provider reports, each event once.
func (s *Service) Webhook(ctx context.Context, event ProviderEvent) error {
	return s.store.pool.InTx(ctx, func(ctx context.Context) error {
		fresh, err := s.store.RememberEvent(ctx, event.ID)
		if err != nil || !fresh {
			return err
		}
		_, err = s.Change(ctx, event.PaymentID, StateCaptured, event.ID)
		return err
	})
}`,
			right: `// Webhook books what the provider reports, each event once: the unique key on the event's id decides, in the transaction
// that books. A duplicate that comes meanwhile waits for that transaction, and finds the event there or gone.
func (s *Service) Webhook(ctx context.Context, event ProviderEvent) error {
	err := s.store.pool.InTx(ctx, func(ctx context.Context) error {
		fresh, err := s.store.RememberEvent(ctx, event.ID)
		if err != nil || !fresh {
			return err
		}
		_, err = s.change(ctx, event.PaymentID, StateCaptured, event.ID)
		return err
	})
	if errors.Is(err, ErrTransition) {
		s.log.WarnContext(ctx, "event for a payment that is through", "event", event.ID)
		return nil
	}
	return err
}`,
			finding:  "As suspected: `SeenEvent`, then book, then `RememberEvent`, in three transactions. A second delivery between the first two passes the check. I'll let the unique key decide inside one transaction.",
			test:     "TestWebhookBooksOnce",
			testFile: "internal/payment/model_test.go",
			testCode: `func TestWebhookBooksOnce(t *testing.T) {
	service := newTestService(t)
	x := service.pending(t, "NP-4102-77", 6520)
	event := ProviderEvent{ID: "evt_9", PaymentID: x.ID}
	var deliveries sync.WaitGroup
	for range 8 {
		deliveries.Go(func() {
			if err := service.Webhook(t.Context(), event); err != nil {
				t.Errorf("a delivery is refused, so the provider would go on: %v", err)
			}
		})
	}
	deliveries.Wait()
	late := ProviderEvent{ID: "evt_10", PaymentID: x.ID}
	if err := service.Webhook(t.Context(), late); err != nil {
		t.Errorf("a second event for the same payment: %v", err)
	}
	if n := service.booked(t, x.ID); n != 1 {
		t.Errorf("booked %d times", n)
	}
}`,
			failure: "    model_test.go:131: a delivery is refused, so the provider would go on: change pay_4102 to captured: payment: changed since it was read\n    model_test.go:138: a second event for the same payment: change pay_4102 to captured: payment: transition not allowed: captured to captured",
			insight: "Two findings. `Change` tries again in a transaction of its own, and nested in ours its retries see the same snapshot, so ErrStale comes through; the inner `change` without retries is the right one here. And another event for a payment that is captured already must be answered with 200 as well: a warning in the log is enough.",
			done:    "FER-130: an event is remembered and booked in one transaction, the unique key on the event's id decides. Eight simultaneous deliveries of one event book once and are all answered with 200; a second event for a captured payment is logged as a warning and answered with 200. The double booking of NP-4102-77 itself is still in the books: accounting has to reverse entry 88213.",
			commit:  "Book each webhook event once",
		},
		{
			ticket: "FER-127",
			ask:    "FER-127: a passenger with a voucher of 58.00 booked for 41.30, cancelled, and got a new voucher of 41.30 while the old one still showed 58.00. Partly spent vouchers must keep what is left, and a refund goes back onto the same voucher. Vouchers that have lapsed in between are extended by 30 days, says the customer desk.",
			plan:   []string{"Read the voucher model and service", "Spend and give back on the same voucher", "Extend lapsed vouchers by 30 days on refund", "Tests for both, and for giving back too much"},
			think:  "Spend apparently does not write CentsLeft. Giving back more than was taken must be impossible. Lapsed: EndsAt = now + 30 days, and the state must go back from lapsed to issued, which moves does not allow now.",
			reads:  []string{"internal/payment/service.go"},
			grep:   "CentsLeft",
			file:   "internal/voucher/model.go",
			before: `// Spend takes an amount from a voucher.
func (x *Voucher) Spend(cents int64, now time.Time) (rest int64, err error) {
	if now.After(x.EndsAt) {
		return cents, ErrTransition
	}
	used := min(cents, x.CentsLeft)
	return cents - used, x.Move(StateSpent, now)
}`,
			wrong: `// Spend takes an amount from a voucher, and returns what it does not cover. The voucher is spent when nothing is left.
func (x *Voucher) Spend(cents int64, now time.Time) (rest int64, err error) {
	if now.After(x.EndsAt) {
		return cents, ErrTransition
	}
	used := min(cents, x.CentsLeft)
	x.CentsLeft -= used
	if x.CentsLeft == 0 {
		err = x.Move(StateSpent, now)
	}
	return cents - used, err
}

// GiveBack puts an amount back. A voucher that lapsed meanwhile is good for another 30 days.
func (x *Voucher) GiveBack(cents int64, now time.Time) {
	x.CentsLeft += cents
	x.State = StateIssued
	if now.After(x.EndsAt) {
		x.EndsAt = now.Add(30 * 24 * time.Hour)
	}
}`,
			right: `// Spend takes an amount from a voucher, and returns what it does not cover. The voucher is spent when nothing is left.
func (x *Voucher) Spend(cents int64, now time.Time) (rest int64, err error) {
	switch {
	case cents < 0:
		return cents, &FieldError{"cents", "must not be negative"}
	case x.State != StateIssued || now.After(x.EndsAt):
		return cents, ErrTransition
	}
	used := min(cents, x.CentsLeft)
	x.CentsLeft -= used
	if x.CentsLeft == 0 {
		err = x.Move(StateSpent, now)
	}
	return cents - used, err
}

// GiveBack puts back at most what was taken of a voucher worth full. One that lapsed meanwhile is good for another 30
// days (the customer desk's rule), to the end of the day in UTC.
func (x *Voucher) GiveBack(cents, full int64, now time.Time) error {
	if cents <= 0 || x.CentsLeft+cents > full {
		return &FieldError{"cents", "is not what was taken"}
	}
	x.CentsLeft += cents
	x.State = StateIssued
	if now = now.UTC(); now.After(x.EndsAt) {
		x.EndsAt = now.Truncate(24 * time.Hour).AddDate(0, 0, 31).Add(-time.Second)
	}
	return nil
}`,
			finding:  "`Spend` marks the voucher spent but never lowers CentsLeft, and there is no way back at all: the refund path simply issues a new voucher. I'll keep the amount on the voucher and add `GiveBack`.",
			test:     "TestVoucherKeepsWhatIsLeft",
			testFile: "internal/voucher/model_test.go",
			testCode: `func TestVoucherKeepsWhatIsLeft(t *testing.T) {
	now := time.Date(2026, 6, 1, 15, 4, 5, 0, time.UTC)
	x := validVoucher()
	if rest, err := x.Spend(4130, now); err != nil || rest != 0 || x.CentsLeft != 1670 || x.State != StateIssued {
		t.Fatalf("after 41.30: rest %d, left %d, %s, %v", rest, x.CentsLeft, x.State, err)
	}
	x.State, x.EndsAt = StateLapsed, now.Add(-time.Hour)
	if err := x.GiveBack(4131, 5800, now); err == nil {
		t.Error("more was given back than was taken")
	}
	if err := x.GiveBack(4130, 5800, now); err != nil || x.CentsLeft != 5800 || x.State != StateIssued {
		t.Errorf("given back: left %d, %s, %v", x.CentsLeft, x.State, err)
	}
	if want := time.Date(2026, 7, 1, 23, 59, 59, 0, time.UTC); !x.EndsAt.Equal(want) {
		t.Errorf("ends at %s, want %s", x.EndsAt, want)
	}
}`,
			failure: "    model_test.go:92: too many arguments in call to x.GiveBack\n\t\thave (number, number, time.Time)\n\t\twant (int64, time.Time)\nFAIL\ttidewater.example/ferry/internal/voucher [build failed]",
			insight: "The test wants GiveBack to know the full amount, and it is right: without it a bug upstream could give back more than was taken, and vouchers are money. I'll add the bound, and let it end with the day rather than at 15:04:05, which nobody could explain to a passenger.",
			done:    "FER-127: `Spend` lowers CentsLeft and marks the voucher spent only at zero; `GiveBack` puts an amount back onto the same voucher, at most what was taken; a lapsed voucher becomes valid for 30 more days, to the end of the day in UTC. The refund path in internal/payment still issues new vouchers and must call GiveBack: I'd do that as a change of its own, as it touches the public refund response.",
			asides: []aside{{
				user:   "Agreed, separate change. Note it as FER-127b, and remember: the refund response may only get new fields.",
				answer: "Noted as FER-127b: switch the refund path in internal/payment/service.go to voucher.GiveBack; the response of POST /v1/payments/{id}/state keeps its fields and may get `voucher_id` in addition.",
			}},
			commit: "Keep what is left of a voucher, and give back onto it",
		},
	}
}
