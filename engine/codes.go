package engine

// Code is a stable word for the reason of a refusal. The edge maps each code to one HTTP status
// through CodeTable.
type Code string

// These are the codes with which an actor or the edge refuses a request. CodeTable has the HTTP status and the
// sentence of each.
const (
	Validation          Code = "VALIDATION_ERROR"
	Unauthorized        Code = "UNAUTHORIZED"
	InsufficientFunds   Code = "INSUFFICIENT_FUNDS"
	Forbidden           Code = "FORBIDDEN"
	WrongEnv            Code = "WRONG_ENV"
	NotFound            Code = "NOT_FOUND"
	EventNotFound       Code = "EVENT_NOT_FOUND"
	OrderNotFound       Code = "ORDER_NOT_FOUND"
	TicketNotFound      Code = "TICKET_NOT_FOUND"
	NotDownloadable     Code = "NOT_DOWNLOADABLE"
	NoFile              Code = "NO_FILE"
	TicketTypeNotFound  Code = "TICKET_TYPE_NOT_FOUND"
	NotTransferable     Code = "TICKET_NOT_TRANSFERABLE"
	TransferNotPending  Code = "TRANSFER_NOT_PENDING"
	NotCheckedIn        Code = "NOT_CHECKED_IN"
	ReviewExists        Code = "REVIEW_EXISTS"
	ActiveTickets       Code = "ACTIVE_TICKETS"
	NoteNotFound        Code = "NOTE_NOT_FOUND"
	PayoutNotFound      Code = "PAYOUT_NOT_FOUND"
	NoTickets           Code = "NO_TICKETS"
	EmailSendFailed     Code = "EMAIL_SEND_FAILED"
	MethodNotAllowed    Code = "METHOD_NOT_ALLOWED"
	TicketSoldOut       Code = "TICKET_SOLD_OUT"
	ExceedsMaxPerOrder  Code = "EXCEEDS_MAX_PER_ORDER"
	ExceedsMaxPerBuyer  Code = "EXCEEDS_MAX_PER_CUSTOMER"
	PresaleCodeRequired Code = "PRESALE_CODE_REQUIRED"
	NotOnSale           Code = "NOT_ON_SALE"
	InvalidSaleWindow   Code = "INVALID_SALE_WINDOW"
	InvalidRefundLimit  Code = "INVALID_REFUND_DEADLINE"
	InvalidTransition   Code = "INVALID_STATUS_TRANSITION"
	TicketTypeLocked    Code = "TICKET_TYPE_LOCKED"
	ProductTypeLocked   Code = "PRODUCT_TYPE_LOCKED"
	NoSeating           Code = "NO_SEATING"
	MapNotPublished     Code = "MAP_NOT_PUBLISHED"
	SeatTaken           Code = "SEAT_TAKEN"
	SeatSold            Code = "SEAT_SOLD"
	SeatsSold           Code = "SEATS_SOLD"
	RefundNotEligible   Code = "REFUND_NOT_ELIGIBLE"
	RefundNotPending    Code = "REFUND_NOT_PENDING"
	NoWithdrawal        Code = "WITHDRAWAL_NOT_POSSIBLE"
	NotReschedulable    Code = "RESCHEDULE_NOT_POSSIBLE"
	NotExtendable       Code = "EXTENSION_NOT_POSSIBLE"
	SectionInUse        Code = "SECTION_IN_USE"
	PromoCodeInvalid    Code = "PROMO_CODE_INVALID"
	WaitlistClosed      Code = "WAITLIST_CLOSED"
	QueueRequired       Code = "QUEUE_REQUIRED"
	QueueClosed         Code = "QUEUE_CLOSED"
	QueueFrozen         Code = "QUEUE_FROZEN"
	NotReservation      Code = "NOT_A_RESERVATION_EVENT"
	DateUnavailable     Code = "DATE_UNAVAILABLE"
	SlotFull            Code = "SLOT_FULL"
	CodeExists          Code = "CODE_ALREADY_EXISTS"
	CodeLocked          Code = "CODE_LOCKED"
	CourseIncomplete    Code = "COURSE_INCOMPLETE"
	CourseNotFound      Code = "COURSE_NOT_FOUND"
	NotACourse          Code = "NOT_A_COURSE"
	NotABuyer           Code = "NOT_A_BUYER"
	NotASyllabus        Code = "NOT_A_SYLLABUS_COURSE"
	NotUnified          Code = "NOT_A_UNIFIED_COURSE"
	InvalidLesson       Code = "INVALID_LESSON_INDEX"
	InvalidAnswers      Code = "INVALID_ANSWERS"
	NoExam              Code = "NO_EXAM"
	NoCertificate       Code = "CERTIFICATE_NOT_ISSUED"
	EventCancelled      Code = "EVENT_CANCELLED"
	Conflict            Code = "CONFLICT"
	EmailTaken          Code = "EMAIL_TAKEN"
	AlreadyPaid         Code = "ALREADY_PAID"
	OrderNotPayable     Code = "ORDER_NOT_PAYABLE"
	OrderNotCancellable Code = "ORDER_NOT_CANCELLABLE"
	NothingToPay        Code = "NOTHING_TO_PAY"
	ProviderMissing     Code = "PROVIDER_NOT_CONFIGURED"
	ProviderError       Code = "PROVIDER_ERROR"
	ProviderTimeout     Code = "PROVIDER_TIMEOUT"
	// A payment provider does not take the order's currency, or takes no amount as small as the order's.
	CurrencyNotSupported Code = "CURRENCY_NOT_SUPPORTED"
	AmountBelowMinimum   Code = "AMOUNT_BELOW_MINIMUM"

	IdempotencyReused   Code = "IDEMPOTENCY_KEY_REUSED"
	IdempotencyInFlight Code = "IDEMPOTENCY_IN_FLIGHT"
	RateLimited         Code = "RATE_LIMITED"
	VelocityLimited     Code = "VELOCITY_LIMIT_EXCEEDED"
	PayloadTooLarge     Code = "PAYLOAD_TOO_LARGE"
	UnsupportedMedia    Code = "UNSUPPORTED_MEDIA_TYPE"
	FileTooLarge        Code = "FILE_TOO_LARGE"
	UnsupportedFile     Code = "UNSUPPORTED_FILE_TYPE"
	EmptyFile           Code = "EMPTY_FILE"
	QuotaExceeded       Code = "QUOTA_EXCEEDED"
	Overloaded          Code = "OVERLOADED"
	Unavailable         Code = "UNAVAILABLE"
	Internal            Code = "INTERNAL"
)

// CodeDef is one row of the error catalogue.
type CodeDef struct {
	Status    int    // HTTP status of the answer
	Retryable bool   // whether the same request, unchanged, may succeed later
	Sentence  string // what the client is told if the refusal has no message
}

// CodeTable is the error catalogue (docs/rules.md, Errors): every code with
// its HTTP status, whether a retry makes sense, and a sentence.
var CodeTable = map[Code]CodeDef{
	Validation:           {400, false, "The request is not valid."},
	Unauthorized:         {401, false, "Credentials are missing, expired or malformed."},
	InsufficientFunds:    {402, false, "The wallet does not cover this."},
	Forbidden:            {403, false, "These credentials do not allow this."},
	WrongEnv:             {403, false, "This key belongs to the other environment."},
	NotFound:             {404, false, "No such resource."},
	EventNotFound:        {404, false, "No such event."},
	OrderNotFound:        {404, false, "No such order."},
	TicketNotFound:       {404, false, "No such ticket."},
	NotDownloadable:      {404, false, "Nothing of this ticket is downloaded."},
	NoFile:               {404, false, "The organizer has attached nothing to this ticket yet."},
	TicketTypeNotFound:   {404, false, "No such ticket type."},
	NotTransferable:      {409, false, "The ticket can't be passed on."},
	TransferNotPending:   {409, false, "The ticket is not on its way to anybody."},
	NotCheckedIn:         {409, false, "Nobody was let in with this ticket."},
	ReviewExists:         {409, false, "The ticket has been reviewed."},
	ActiveTickets:        {409, false, "Tickets were paid for that are still to be used."},
	NoteNotFound:         {404, false, "No such note."},
	PayoutNotFound:       {404, false, "No such payout."},
	NoTickets:            {409, false, "The customer has no active ticket."},
	EmailSendFailed:      {502, true, "The mail could not be sent."},
	MethodNotAllowed:     {405, false, "This path does not answer that method."},
	TicketSoldOut:        {409, false, "Not enough tickets are left."},
	ExceedsMaxPerOrder:   {400, false, "More tickets than one order may hold."},
	ExceedsMaxPerBuyer:   {409, false, "More tickets than one customer may hold."},
	PresaleCodeRequired:  {403, false, "A presale code is required."},
	NotOnSale:            {409, false, "These tickets are not on sale."},
	InvalidSaleWindow:    {400, false, "The sale must end after it starts and by the end of the event."},
	InvalidRefundLimit:   {400, false, "The refund deadline must not be after the start of the event."},
	InvalidTransition:    {409, false, "The event cannot move to that status."},
	TicketTypeLocked:     {409, false, "Price and type cannot change once a ticket is sold."},
	ProductTypeLocked:    {409, false, "The category cannot become one of another product type once the event has a ticket type."},
	NoSeating:            {409, false, "The event has no seat map."},
	MapNotPublished:      {409, false, "The venue map has no such published version."},
	SeatTaken:            {409, false, "A seat is taken."},
	SeatSold:             {409, false, "A seat is sold."},
	SeatsSold:            {409, false, "The seat map stands still once a seat is sold."},
	DateUnavailable:      {409, false, "This date can't be booked."},
	SlotFull:             {409, false, "Too few places are left on this date."},
	NotReservation:       {400, false, "The event is not booked by date."},
	PromoCodeInvalid:     {409, false, "The promo code does not hold for this order."},
	WaitlistClosed:       {409, false, "Nobody can wait for these tickets."},
	QueueRequired:        {403, false, "The event has a waiting room, and this request has no admission from it."},
	QueueClosed:          {409, false, "Nobody can join this waiting room now."},
	QueueFrozen:          {409, false, "The rules of a draw can't change once registration has begun."},
	CodeExists:           {409, false, "The code is taken."},
	CodeLocked:           {409, false, "A code that was redeemed keeps its name."},
	CourseIncomplete:     {400, false, "The course is not complete."},
	CourseNotFound:       {404, false, "No such course."},
	NotACourse:           {400, false, "The event is not an online course."},
	NotABuyer:            {403, false, "You hold no ticket of this course."},
	NotASyllabus:         {400, false, "The course has no lessons of its own."},
	NotUnified:           {400, false, "The course is completed lesson by lesson."},
	InvalidLesson:        {400, false, "The course has no lesson with this index."},
	InvalidAnswers:       {400, false, "The answers must be a list of { questionId, selectedIndex }."},
	NoExam:               {404, false, "The course has no exam."},
	NoCertificate:        {404, false, "No certificate was issued yet."},
	EventCancelled:       {409, false, "The event was cancelled."},
	RefundNotEligible:    {409, false, "Money can not be asked back for this."},
	RefundNotPending:     {409, false, "The refund has been decided."},
	NoWithdrawal:         {409, false, "The right to withdraw from this purchase has ended, or there was none."},
	NotExtendable:        {409, false, "There is no more time for this."},
	NotReschedulable:     {409, false, "The ticket can't move to another date."},
	SectionInUse:         {409, false, "A ticket type names this section."},
	Conflict:             {409, false, "The request conflicts with the resource's state."},
	EmailTaken:           {409, false, "An account with this e-mail exists."},
	AlreadyPaid:          {409, false, "The order is paid."},
	OrderNotPayable:      {409, false, "The order can no longer be paid."},
	OrderNotCancellable:  {409, false, "The order can no longer be cancelled."},
	NothingToPay:         {409, false, "The order is free."},
	ProviderMissing:      {503, false, "This payment provider is not configured here."},
	ProviderError:        {502, true, "The payment provider failed."},
	ProviderTimeout:      {504, true, "The payment provider did not answer in time."},
	CurrencyNotSupported: {422, false, "The payment provider does not take this currency."},
	AmountBelowMinimum:   {422, false, "The amount is below what the payment provider takes."},
	IdempotencyReused:    {409, false, "This Idempotency-Key was used with another request."},
	IdempotencyInFlight:  {409, true, "A request with this Idempotency-Key is still running."},
	RateLimited:          {429, true, "Too many requests."},
	VelocityLimited:      {429, true, "Too many orders or attempts in a short time."},
	PayloadTooLarge:      {413, false, "The request body is too large."},
	UnsupportedMedia:     {415, false, "The request body must be application/json."},
	Overloaded:           {503, true, "The service is at its limit; try again shortly."},
	Unavailable:          {503, true, "The service cannot answer now; try again shortly."},
	Internal:             {500, true, "Something went wrong on our side."},
	FileTooLarge:         {413, false, "The file is too large."},
	UnsupportedFile:      {415, false, "Files of this type are not taken, or the file is not what its name and type say."},
	EmptyFile:            {400, false, "The file is empty."},
	QuotaExceeded:        {413, false, "The organization has as much as it may have."},
}

// StatusOf returns the code's HTTP status for a read or a write. Only NoSeating has two: a read does not find
// the seat map that the event lacks (404), and a write conflicts with its absence (409).
func StatusOf(code Code, read bool) int {
	if read && code == NoSeating {
		return 404
	}
	return CodeTable[code].Status
}

// Refusal is a reply that says no.
type Refusal struct {
	Code    Code
	Message string // what the client is told; if empty, the code's Sentence
	Details any    // the error's `details` in the answer; nil if it has none
	Retry   int    // seconds until a retry makes sense; with 0 the edge chooses
}

// Error makes a Refusal an error for callers that need one.
func (r *Refusal) Error() string {
	if r.Message != "" {
		return string(r.Code) + ": " + r.Message
	}
	return string(r.Code) + ": " + CodeTable[r.Code].Sentence
}

// Refuse returns a Refusal with details.
func Refuse(code Code, details any) *Refusal { return &Refusal{Code: code, Details: details} }
