package main

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"text/template"
)

//go:embed project
var templates embed.FS

// entity is a package of the invented project.
type entity struct {
	Package, Name, Var, Article, Table, Prefix, Doc string
	Fields                                          []field
	States                                          []string
	Extra                                           string
}

type field struct {
	Name, Column, Type, Doc, Sample string
	Max                             int
}

func text(name, column, doc, sample string, limit int) field {
	return field{Name: name, Column: column, Type: "string", Doc: doc, Sample: fmt.Sprintf("%q", sample), Max: limit}
}

func number(name, column, doc, sample string) field {
	return field{Name: name, Column: column, Type: "int64", Doc: doc, Sample: sample}
}

func moment(name, column, doc string) field {
	return field{Name: name, Column: column, Type: "time.Time", Doc: doc, Sample: "time.Date(2026, 7, 4, 6, 30, 0, 0, time.UTC)"}
}

var entities = []entity{
	{
		Package: "hold", Name: "Hold", Var: "hold", Article: "a", Table: "holds", Prefix: "hld",
		Doc: "a place on a sailing that is kept for somebody who has not paid yet",
		Fields: []field{
			text("SailingID", "sailing_id", "the sailing it is a place on", "sai_7f21", 40),
			text("Port", "port", "where the passenger boards; its clock is the one that is printed", "HAR", 3),
			number("Seats", "seats", "how many seats", "2"),
			number("LaneCentimetres", "lane_cm", "how much of the vehicle deck", "480"),
			moment("ExpiresAt", "expires_at", "when it falls free again"),
		},
		States: []string{"open", "paid", "expired"},
	},
	{
		Package: "fare", Name: "Fare", Var: "fare", Article: "a", Table: "fares", Prefix: "far",
		Doc: "what a kind of passenger pays on a route, in cents",
		Fields: []field{
			text("Route", "route", "two ports with a dash", "HAR-SKA", 7),
			text("Class", "class", "adult, child, senior or crew", "adult", 12),
			number("BaseCents", "base_cents", "before discounts", "2950"),
			number("TaxCents", "tax_cents", "harbour tax, never discounted", "310"),
			moment("ValidFrom", "valid_from", "the first day it is sold"),
		},
		States: []string{"draft", "sold", "withdrawn"},
	},
	{
		Package: "sailing", Name: "Sailing", Var: "sailing", Article: "a", Table: "sailings", Prefix: "sai",
		Doc: "one crossing of one vessel on one day",
		Fields: []field{
			text("Route", "route", "two ports with a dash", "HAR-SKA", 7),
			text("VesselID", "vessel_id", "the vessel that is to sail it", "ves_09", 40),
			moment("DepartsAt", "departs_at", "in UTC; printed in the clock of the port"),
			number("SeatsLeft", "seats_left", "seats that are neither sold nor held", "212"),
			number("LaneCentimetresLeft", "lane_cm_left", "deck that is neither sold nor held", "31800"),
		},
		States: []string{"planned", "boarding", "departed", "cancelled"},
	},
	{
		Package: "payment", Name: "Payment", Var: "payment", Article: "a", Table: "payments", Prefix: "pay",
		Doc: "money that a payment provider took, or tried to take, for a hold",
		Fields: []field{
			text("HoldID", "hold_id", "what is paid", "hld_51c0", 40),
			text("Provider", "provider", "who took it", "nordpay", 20),
			text("Reference", "reference", "its name at the provider", "NP-4102-77", 80),
			number("AmountCents", "amount_cents", "what was asked for", "6520"),
			number("FeeCents", "fee_cents", "what the provider keeps", "118"),
		},
		States: []string{"pending", "captured", "failed", "refunded"},
	},
	{
		Package: "manifest", Name: "Manifest", Var: "manifest", Article: "a", Table: "manifests", Prefix: "man",
		Doc: "the list of everybody on board that the harbour master gets before departure",
		Fields: []field{
			text("SailingID", "sailing_id", "the sailing it is for", "sai_7f21", 40),
			text("Authority", "authority", "who gets it", "HM-HAR", 20),
			number("Persons", "persons", "how many are on it", "187"),
			moment("DueAt", "due_at", "when it must have been sent"),
		},
		States: []string{"collecting", "sent", "acknowledged"},
	},
	{
		Package: "voucher", Name: "Voucher", Var: "voucher", Article: "a", Table: "vouchers", Prefix: "vou",
		Doc: "money that is owed to a passenger, to be spent on another crossing",
		Fields: []field{
			text("Code", "code", "what the passenger types", "SKUA-7Q2F-M0", 16),
			text("PaymentID", "payment_id", "the payment that it gives back", "pay_4102", 40),
			number("CentsLeft", "cents_left", "what is left of it", "5800"),
			moment("EndsAt", "ends_at", "the last moment at which it is taken"),
		},
		States: []string{"issued", "spent", "lapsed"},
	},
	{
		Package: "notice", Name: "Notice", Var: "notice", Article: "a", Table: "notices", Prefix: "not",
		Doc: "a message to a passenger, by mail or text message",
		Fields: []field{
			text("Channel", "channel", "mail or sms", "sms", 8),
			text("Recipient", "recipient", "address or number", "+4700000000", 120),
			text("Template", "template", "which text", "delay", 40),
			number("Attempts", "attempts", "how often it was tried", "0"),
		},
		States: []string{"queued", "sent", "dead"},
	},
	{
		Package: "timetable", Name: "Timetable", Var: "timetable", Article: "a", Table: "timetables", Prefix: "tim",
		Doc: "the plan of a season, from which sailings are made",
		Fields: []field{
			text("Season", "season", "such as 2026-summer", "2026-summer", 20),
			text("Route", "route", "two ports with a dash", "HAR-SKA", 7),
			number("Revisions", "revisions", "how often it was imported", "3"),
			moment("StartsOn", "starts_on", "the first day"),
		},
		States: []string{"imported", "checked", "published"},
	},
	{
		Package: "vehicle", Name: "Vehicle", Var: "vehicle", Article: "a", Table: "vehicles", Prefix: "veh",
		Doc: "what a passenger brings on the vehicle deck",
		Fields: []field{
			text("Plate", "plate", "as it is written on the vehicle", "EK 40271", 16),
			text("Category", "category", "what the fare is found by", "car", 20),
			number("LengthCentimetres", "length_cm", "with the trailer", "455"),
			number("HeightCentimetres", "height_cm", "with what is on the roof", "168"),
		},
		States: []string{"declared", "measured", "boarded"},
	},
	{
		Package: "search", Name: "Query", Var: "query", Article: "a", Table: "queries", Prefix: "qry",
		Doc: "what somebody looked for, kept for a day to see what is asked for and not sold",
		Fields: []field{
			text("Route", "route", "two ports with a dash", "HAR-SKA", 7),
			text("ClientKey", "client_key", "a hash, never an address", "c0ffee", 64),
			number("Results", "results", "how many sailings were found", "6"),
			moment("TravelOn", "travel_on", "the day that was asked for"),
		},
		States: []string{"fresh", "counted"},
	},
}

// kinds are the files of a package, each of which has a template.
var kinds = []string{"model.go", "store.go", "service.go", "http.go", "model_test.go"}

// layOut creates the project as it is when the conversation begins, with the bug of each task.
func layOut(tasks []task) (*workspace, error) {
	w := &workspace{files: make(map[string]string)}
	parsed, err := template.New("").Funcs(template.FuncMap{
		"title": func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
		"after": func(s []string, i int) []string { return s[i+1:] },
		"last":  func(s []string) string { return s[len(s)-1] },
		"inc":   func(i int) int { return i + 1 },
		"place": func(i int) int { return i + 2 },
	}).ParseFS(templates, "project/*.tmpl")
	if err != nil {
		return nil, err
	}
	for _, e := range entities {
		for _, kind := range kinds {
			file := path.Join("internal", e.Package, kind)
			e.Extra = strings.Join(extras(tasks, file), "\n\n")
			var b strings.Builder
			if err := parsed.ExecuteTemplate(&b, kind+".tmpl", e); err != nil {
				return nil, err
			}
			w.put(file, b.String())
		}
	}
	return w, nil
}

func extras(tasks []task, file string) []string {
	var found []string
	for _, t := range tasks {
		if t.file == file {
			found = append(found, strings.TrimSpace(t.before))
		}
	}
	return found
}
