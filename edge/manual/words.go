package manual

// words are the texts of the pages that do not come from the OpenAPI document, in one language. The
// document is in English only.
type words struct {
	Lang                                          string
	Docs, Overview, Guide, SeatedSale, Portal     string
	Document, Search, Found, NoneFound, List, All string

	Parameters, Body, Answers, Errors, Required, Nullable, Default, Again, NoBody, Above, Inner string
	In                                                                                          map[string]string
	Characters, Items, Members, MultipleOf, OneOf, Each, ListOf, MapOf, Anything                string

	For, Scopes, Limit, PerMinute string
	Credentials                   map[string]string

	Snippets, Copy, Copied                           string
	Key, KeyHint, MakeKey, Making, SignIn, Forget    string
	Try, Run, Running, Stop, Sure, SureText, Cancel  string
	File, Failed, NoConnection, Binary, Cut, NotJSON string
	Sent, SentHint                                   string
}

// wordsIn returns the German or the English words.
func wordsIn(isGerman bool) *words {
	if isGerman {
		return &german
	}
	return &english
}

var english = words{
	Lang: "en", Docs: "Docs", Overview: "The API", Guide: "Developer's guide", SeatedSale: "A seated sale", Portal: "Portal",
	Document: "OpenAPI document", Search: "Search operations", Found: "# found", NoneFound: "Nothing fits.", List: "Operations", All: "All operations",
	Parameters: "Parameters", Body: "Body", Answers: "Answers", Errors: "Errors", Required: "required", Nullable: "or null", Default: "Default:", Again: "A retry may succeed.", NoBody: "No body.", Above: "As above.", Inner: "Members of",
	In:         map[string]string{"path": "path", "query": "query", "header": "header"},
	Characters: "characters", Items: "items", Members: "members", MultipleOf: "a multiple of %s", OneOf: "one of", Each: "each", ListOf: "list of %s", MapOf: "object, each member %s", Anything: "anything",
	For: "For", Scopes: "Scope", Limit: "Limit", PerMinute: "%d a minute, by %s",
	Credentials: map[string]string{"public": "anybody", "user": "a signed-in user", "member": "a member of the organization", "apiKey": "the organization's API key", "orderToken": "whoever has the order's token", "admin": "an administrator of the platform", "liveToken": "whoever has a token for the stream"},
	Snippets:    "Snippet", Copy: "Copy", Copied: "Copied",
	Key: "Your API key", KeyHint: "It stays in this tab, and goes into the snippets and the requests.", MakeKey: "Make a key", Making: "Making it …", SignIn: "Sign in to make a key", Forget: "Forget it",
	Try: "Try it", Run: "Run", Running: "Running …", Stop: "Stop", Sure: "Send this request?", SureText: "It changes what is on this server.", Cancel: "Cancel",
	File: "File", Failed: "The request could not be sent.", NoConnection: "No connection.", Binary: "A file of # bytes.", Cut: "… and more", NotJSON: "The body is not JSON.",
	Sent: "What is sent", SentHint: "We POST this to your endpoint, and take any 2xx for received.",
}

var german = words{
	Lang: "de", Docs: "Doku", Overview: "Die API", Guide: "Leitfaden", SeatedSale: "Verkauf mit Sitzplätzen", Portal: "Entwickler",
	Document: "OpenAPI-Dokument", Search: "Operationen suchen", Found: "# gefunden", NoneFound: "Nichts passt.", List: "Operationen", All: "Alle Operationen",
	Parameters: "Parameter", Body: "Inhalt", Answers: "Antworten", Errors: "Fehler", Required: "nötig", Nullable: "oder null", Default: "Sonst:", Again: "Ein neuer Versuch kann gelingen.", NoBody: "Ohne Inhalt.", Above: "Wie oben.", Inner: "Teile von",
	In:         map[string]string{"path": "Pfad", "query": "Abfrage", "header": "Kopfzeile"},
	Characters: "Zeichen", Items: "Einträge", Members: "Teile", MultipleOf: "ein Vielfaches von %s", OneOf: "eins von", Each: "je", ListOf: "Liste: %s", MapOf: "Objekt, jeder Teil: %s", Anything: "beliebig",
	For: "Für", Scopes: "Recht", Limit: "Grenze", PerMinute: "%d in der Minute, je %s",
	Credentials: map[string]string{"public": "alle", "user": "angemeldete Personen", "member": "Mitglieder der Organisation", "apiKey": "API-Schlüssel der Organisation", "orderToken": "wer das Token der Bestellung hat", "admin": "Verwalter der Plattform", "liveToken": "wer ein Token für den Strom hat"},
	Snippets:    "Beispiel", Copy: "Kopieren", Copied: "Kopiert",
	Key: "Dein API-Schlüssel", KeyHint: "Er bleibt in diesem Tab und steht in Beispielen und Anfragen.", MakeKey: "Schlüssel machen", Making: "Einen Moment …", SignIn: "Anmelden, um einen Schlüssel zu machen", Forget: "Vergessen",
	Try: "Ausprobieren", Run: "Senden", Running: "Läuft …", Stop: "Anhalten", Sure: "Diese Anfrage senden?", SureText: "Sie ändert, was auf diesem Server steht.", Cancel: "Abbrechen",
	File: "Datei", Failed: "Die Anfrage ließ sich nicht senden.", NoConnection: "Keine Verbindung.", Binary: "Eine Datei mit # Bytes.", Cut: "… und mehr", NotJSON: "Der Inhalt ist kein JSON.",
	Sent: "Was gesendet wird", SentHint: "Wir senden dies per POST an deine Adresse; jede 2xx gilt als angekommen.",
}
