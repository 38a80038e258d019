package main

// shipTasks are about what sails: timetables, manifests, vehicles, notices, search.
func shipTasks() []task {
	return []task{
		{
			ticket: "FER-109",
			ask:    "FER-109: paging through sailings skips some. If two boats leave at exactly the same minute (Saturdays 08:00 HAR-SKA and HAR-LOM), one of them is missing when the page ends between them. The app team sees it with page_size=20.",
			plan:   []string{"Read the listing of sailings and the cursor", "Reproduce with equal departure times", "Put the id into the cursor", "Keep old page tokens working for a day"},
			think:  "Cursor by departs_at only, comparing with >: the second of two equal times is skipped. Keyset paging needs a unique tie-breaker. Old tokens in the wild: the app keeps them for minutes, but the public API should not answer 422 to them during a deploy.",
			reads:  []string{"internal/search/http.go"},
			grep:   "page_token",
			look:   &look{command: "curl -s 'localhost:8080/v1/sailings?state=planned&page_size=20' | jq -r '.items[] | [.id, .route, .departs_at] | @tsv'", output: sailingPage},
			file:   "internal/sailing/service.go",
			before: `// Upcoming lists sailings in the order of their departure.
func (s *Service) Upcoming(ctx context.Context, after time.Time, limit int) ([]*Sailing, error) {
	return s.store.query(ctx, ` + "`WHERE departs_at > $1 ORDER BY departs_at LIMIT $2`" + `, after, limit)
}`,
			wrong: `// Upcoming lists sailings in the order of their departure.
func (s *Service) Upcoming(ctx context.Context, after time.Time, id string, limit int) ([]*Sailing, error) {
	return s.store.query(ctx,
		` + "`WHERE departs_at >= $1 AND id > $2 ORDER BY departs_at, id LIMIT $3`" + `, after, id, limit)
}`,
			right: `// Upcoming lists sailings in the order of their departure, and of their ids where several leave at once. A cursor of
// an old token has no id, which sorts before all others: such a page may repeat a sailing, but skips none.
func (s *Service) Upcoming(ctx context.Context, after time.Time, id string, limit int) ([]*Sailing, error) {
	return s.store.query(ctx,
		` + "`WHERE (departs_at, id) > ($1, $2) ORDER BY departs_at, id LIMIT $3`" + `, after, id, limit)
}`,
			finding:  "`Upcoming` pages by departs_at alone with `>`, so of two sailings at 08:00:00 the one behind the page's end is skipped. The cursor needs the id as a tie-breaker.",
			test:     "TestUpcomingSkipsNoSailing",
			testFile: "internal/sailing/model_test.go",
			testCode: `func TestUpcomingSkipsNoSailing(t *testing.T) {
	service := newTestService(t)
	eight := time.Date(2026, 7, 11, 8, 0, 0, 0, time.UTC)
	for i, departs := range []time.Time{eight, eight, eight.Add(time.Hour), eight, eight.Add(-time.Hour)} {
		service.plan(t, fmt.Sprintf("sai_%d", 9-i), departs)
	}
	for size := 1; size <= 6; size++ {
		var seen []string
		after, id := time.Time{}, ""
		for {
			page, err := service.Upcoming(t.Context(), after, id, size)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, x := range page {
				seen = append(seen, x.ID)
			}
			after, id = page[len(page)-1].DepartsAt, page[len(page)-1].ID
		}
		if want := []string{"sai_5", "sai_6", "sai_8", "sai_9", "sai_7"}; !slices.Equal(seen, want) {
			t.Errorf("pages of %d: %v, want %v", size, seen, want)
		}
	}
}`,
			failure: "    model_test.go:164: pages of 1: [sai_5 sai_6 sai_8 sai_9], want [sai_5 sai_6 sai_8 sai_9 sai_7]\n    model_test.go:164: pages of 2: [sai_5 sai_6 sai_8 sai_9], want [sai_5 sai_6 sai_8 sai_9 sai_7]",
			insight: "Of course: `departs_at >= $1 AND id > $2` filters on the id at every departure time, so sai_7 at 09:00 is lost because its id is smaller than sai_9's. Both must be compared as a row: `(departs_at, id) > ($1, $2)`, which PostgreSQL also answers from the index on (departs_at, id).",
			done:    "FER-109: sailings are paged by (departs_at, id), compared as a row. Old page tokens carry no id and may repeat one sailing, but none is skipped. Covered for pages of 1 to 6.",
			commit:  "Page through sailings by departure and id",
		},
		{
			ticket: "FER-133",
			ask:    "FER-133: the timetable import for the summer season takes 11 minutes and blocks the sailings table meanwhile. It was seconds last year. 18,400 sailings, if that helps. It may take a minute, but selling must go on.",
			plan:   []string{"Look at the query plan of the import", "Read the import code", "Import in batches of short transactions", "Add the missing index as migration 0042, concurrently", "Measure"},
			think:  "11 minutes for 18,400 rows is 36 ms a row: a sequential scan per row probably, N+1. And one transaction around all. Look at the plan first.",
			reads:  []string{"internal/sailing/store.go"},
			grep:   "InTx(",
			look:   &look{command: "psql ferry -c \"EXPLAIN (ANALYZE, BUFFERS) SELECT id FROM sailings WHERE route = 'HAR-SKA' AND departs_at = '2026-07-04 06:30+00'\"", output: queryPlan},
			file:   "internal/timetable/service.go",
			before: `// Import makes the sailings of a season.
func (s *Service) Import(ctx context.Context, plan []Departure) error {
	return s.store.pool.InTx(ctx, func(ctx context.Context) error {
		for _, d := range plan {
			known, err := s.store.hasSailing(ctx, d.Route, d.At)
			if err != nil {
				return err
			}
			if known {
				continue
			}
			if err := s.store.insertSailing(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})
}`,
			wrong: `// batch is how many sailings a transaction makes: few enough that nobody waits for them.
const batch = 200

// Import makes the sailings of a season that are not there yet.
func (s *Service) Import(ctx context.Context, plan []Departure) error {
	for part := range slices.Chunk(plan, batch) {
		err := s.store.pool.InTx(ctx, func(ctx context.Context) error {
			return s.store.insertSailings(ctx, part)
		})
		if err != nil {
			return err
		}
	}
	return nil
}`,
			right: `// batch is how many sailings a transaction makes: few enough that nobody waits for them.
const batch = 200

// Import makes the sailings of a season that are not there yet, in short transactions in the order of their departure.
// One that is broken off has made a part of them, and the next one makes the rest: insertSailings leaves out what is
// there, by the unique index on (route, departs_at) of migration 0042.
func (s *Service) Import(ctx context.Context, plan []Departure) (made int, err error) {
	plan = slices.Clone(plan)
	slices.SortFunc(plan, func(a, b Departure) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Route, b.Route))
	})
	plan = slices.CompactFunc(plan, func(a, b Departure) bool { return a.Route == b.Route && a.At.Equal(b.At) })
	for part := range slices.Chunk(plan, batch) {
		var n int
		err := s.store.pool.InTx(ctx, func(ctx context.Context) (err error) {
			n, err = s.store.insertSailings(ctx, part)
			return err
		})
		if err != nil {
			return made, fmt.Errorf("timetable: import after %d sailings: %w", made, err)
		}
		made += n
	}
	return made, nil
}`,
			finding:  "Two things: `hasSailing` scans all 214,000 sailings for each row of the plan (Seq Scan, 34.9 ms), since there is no index on (route, departs_at); and all happens in one transaction, whose row locks the desks wait for. I'll insert in batches of 200 with ON CONFLICT DO NOTHING, on a unique index that migration 0042 builds CONCURRENTLY.",
			test:     "TestImportMayBeBrokenOffAndRepeated",
			testFile: "internal/timetable/model_test.go",
			testCode: `func TestImportMayBeBrokenOffAndRepeated(t *testing.T) {
	service := newTestService(t)
	plan := season(t, "2026-summer", 1000)
	plan = append(plan, plan[7]) // the planners' file has doubles
	ctx, cancel := context.WithCancel(t.Context())
	service.afterBatch(3, cancel)
	made, err := service.Import(ctx, plan)
	if !errors.Is(err, context.Canceled) || made != 600 {
		t.Fatalf("broken off: made %d, %v", made, err)
	}
	made, err = service.Import(t.Context(), plan)
	if err != nil || made != 400 {
		t.Errorf("again: made %d, %v", made, err)
	}
	if n := service.sailings(t); n != 1000 {
		t.Errorf("%d sailings", n)
	}
}`,
			failure: "    model_test.go:88: assignment mismatch: 2 variables but service.Import returns 1 value\n    ERROR: ON CONFLICT DO UPDATE command cannot affect row a second time (SQLSTATE 21000)\nFAIL\ttidewater.example/ferry/internal/timetable [build failed]",
			insight: "The import should say how many it made, or nobody can tell a broken-off one from a whole one. And the doubles in the planners' file hit the same batch: they must be removed before, after sorting. Sorting also makes all imports lock in the same order.",
			done:    "FER-133: the import runs in transactions of 200 sailings, can be broken off and repeated, and no desk waits longer than a batch. Measured on a copy of production: 18,400 sailings in 6.2 s (was 11 min 4 s), longest lock 41 ms. Migration 0042 adds `sailings_route_departs_at_key` UNIQUE, built CONCURRENTLY; it must be deployed before the code.",
			asides: []aside{{
				user:   "What if there are doubles in the table already, then the unique index won't build?",
				look:   &look{command: "psql ferry -c \"SELECT route, departs_at, count(*), array_agg(id) FROM sailings GROUP BY 1, 2 HAVING count(*) > 1\"", output: doubleSailings},
				answer: "There are two pairs of doubles, all four cancelled and without holds. Migration 0042 must move them away first: I suggest `departs_at + interval '1 second'` for the newer of each pair, which keeps ids and history. I have put that as the first statement of the migration, with a comment. Please have ops look at it before it runs.",
			}},
			commit: "Import timetables in batches, on a unique index",
		},
		{
			ticket: "FER-115",
			ask:    "FER-115 is about the manifest export. The harbour master opens the CSV in Excel: names like Bjørn Åsgård are garbled, and a passenger called =HYPERLINK(...) made their IT call us. Yes, really. The columns must stay as they are, an old mainframe reads them too.",
			plan:   []string{"Read the export", "Write UTF-8 with a byte order mark", "Defuse cells that a spreadsheet would run", "Ask whether the mainframe copes with the mark"},
			think:  "CSV injection: cells beginning with =, +, -, @, tab or CR. Common defence: a leading apostrophe. But phone numbers begin with +, and the mainframe reads the columns. BOM for Excel could break the mainframe. Needs a question.",
			reads:  []string{"internal/sailing/model.go"},
			grep:   "csv",
			file:   "internal/manifest/service.go",
			before: `// Export writes the manifest for the harbour master.
func Export(w io.Writer, people []Person) error {
	for _, p := range people {
		fmt.Fprintf(w, "%s;%s;%s;%s\n", p.Family, p.Given, p.Nation, p.Phone)
	}
	return nil
}`,
			wrong: `// Export writes the manifest for the harbour master: UTF-8, with the mark that Excel knows it by.
func Export(w io.Writer, people []Person) error {
	if _, err := io.WriteString(w, "\ufeff"); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	out.Comma = ';'
	for _, p := range people {
		if err := out.Write([]string{safe(p.Family), safe(p.Given), p.Nation, safe(p.Phone)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// safe keeps a spreadsheet from taking a cell for a formula.
func safe(cell string) string {
	if strings.ContainsAny(cell[:1], "=+-@") {
		return "'" + cell
	}
	return cell
}`,
			right: `// Export writes the manifest for the harbour master: UTF-8, with the mark that Excel knows it by unless the authority
// reads it by machine.
func Export(w io.Writer, people []Person, forMachine bool) error {
	if !forMachine {
		if _, err := io.WriteString(w, "\ufeff"); err != nil {
			return err
		}
	}
	out := csv.NewWriter(w)
	out.Comma = ';'
	out.UseCRLF = true
	for _, p := range people {
		phone := p.Phone
		if !isPhone(phone) {
			phone = safe(phone)
		}
		if err := out.Write([]string{safe(p.Family), safe(p.Given), safe(p.Nation), phone}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// safe keeps a spreadsheet from taking a cell for a formula, also behind white space, which it ignores.
func safe(cell string) string {
	switch trimmed := strings.TrimLeft(cell, " \t\r\n"); {
	case trimmed == "":
		return ""
	case strings.ContainsAny(trimmed[:1], "=+-@"):
		return "'" + trimmed
	default:
		return cell
	}
}

// isPhone lets +47 22 33 44 55 through: digits and spaces behind the sign cannot call anything.
func isPhone(cell string) bool {
	return len(cell) > 1 && cell[0] == '+' && strings.Trim(cell[1:], "0123456789 ") == ""
}`,
			finding:  "`Export` prints with Fprintf: no quoting, no byte order mark, cells as they come. I'll write through encoding/csv with the mark, and defuse cells that begin with =, +, - or @.",
			test:     "TestExportIsSafeInSpreadsheets",
			testFile: "internal/manifest/model_test.go",
			testCode: `func TestExportIsSafeInSpreadsheets(t *testing.T) {
	people := []Person{
		{"Åsgård", "Bjørn", "NO", "+47 22 33 44 55"},
		{"=HYPERLINK(\"http://x\")", " @SUM(A1)", "GB", "+1+cmd|' /C calc'!A0"},
		{"", "Cher; the one", "US", ""},
	}
	var out strings.Builder
	if err := Export(&out, people, false); err != nil {
		t.Fatal(err)
	}
	want := "\ufeffÅsgård;Bjørn;NO;+47 22 33 44 55\r\n" +
		"\"'=HYPERLINK(\"\"http://x\"\")\";'@SUM(A1);GB;'+1+cmd|' /C calc'!A0\r\n" +
		";\"Cher; the one\";US;\r\n"
	if out.String() != want {
		t.Errorf("got\n%q, want\n%q", out.String(), want)
	}
}`,
			failure: "panic: runtime error: slice bounds out of range [:1] with length 0 [recovered]\n\tpanic: runtime error: slice bounds out of range [:1] with length 0\n\ngoroutine 19 [running]:\ntidewater.example/ferry/internal/manifest.safe(...)\n\t/home/user/ferry/internal/manifest/service.go:148\ntidewater.example/ferry/internal/manifest.Export({0x7d3b20, 0xc0000a41e0}, {0xc000061e68, 0x3, 0x3})\n\t/home/user/ferry/internal/manifest/service.go:137 +0x1e5",
			insight: "An empty name panics, and passengers with one name exist. The test also wants white space in front of a formula handled (Excel skips it), real phone numbers left alone, and CRLF as the mainframe has it. I'll do all of it, with a switch for authorities that read by machine and would stumble over the mark.",
			done:    "FER-115: the export is UTF-8 with a byte order mark, quoted properly, CRLF, and cells that a spreadsheet would run get an apostrophe; phone numbers stay. Open question: does the mainframe at HM-HAR cope with the mark? Until we know, `forMachine` leaves it out, and I set it for HM-HAR only.",
			asides: []aside{{
				user:   "I asked: the mainframe does not cope with the mark, so your switch is right. HM-SKA reads by machine as well. Their code for us is TWF-0094, you may need it later.",
				answer: "Good. HM-SKA gets `forMachine` too. I noted the code TWF-0094 for the harbour master's interface.",
			}},
			commit: "Write manifests that spreadsheets read and do not run",
		},
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
