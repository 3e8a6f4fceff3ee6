package api

// UploadImage brings an image, in the part file.
type UploadImage struct {
	QueryOrg string `query:"orgId" maxLength:"40" description:"The number of the organization that gets the image, if the caller acts for several. It may stand in the form instead."`
	OrgID    string `part:"orgId" maxLength:"40" description:"The number of the organization that gets the image, if the caller acts for several. It may stand in the query instead."`
	Kind     string `part:"kind" format:"id" maxLength:"50" default:"event-cover" description:"What the image is for, such as event-cover or event-gallery. It is kept with the image and changes nothing."`
}

// UploadFile brings a file, in the part file.
type UploadFile struct {
	QueryOrg string `query:"orgId" maxLength:"40" description:"The number of the organization that gets the file, if the caller acts for several. It may stand in the form instead."`
	OrgID    string `part:"orgId" maxLength:"40" description:"The number of the organization that gets the file, if the caller acts for several. It may stand in the query instead."`
	Field    string `part:"field" enum:"pdf,video" description:"What the file must be. Without it any type that is taken will do, but a video then has the limit of a document."`
	Private  string `part:"private" enum:"0,1" default:"0" description:"1 is paid content, served to the organization and through links of some minutes alone; 0 is for everybody."`
}

// GetMedia asks for a file.
type GetMedia struct {
	ID string `path:"id" format:"id" maxLength:"128" description:"The file's number, the mediaId of its upload."`
	MediaLink
}

// GetMediaVariant asks for an image in another size or format.
type GetMediaVariant struct {
	ID      string `path:"id" format:"id" maxLength:"128" description:"The image's number, the mediaId of its upload."`
	Variant string `path:"variant" format:"id" maxLength:"40" description:"The size and format: web, thumbnail or og, followed by .webp or .jpg."`
	MediaLink
}

// MediaLink is what a link to a private file carries.
type MediaLink struct {
	Expires   int64  `query:"exp" minimum:"0" maximum:"99999999999" description:"When the link to a private file ends, in unix seconds. A link has it already."`
	Signature string `query:"sig" maxLength:"200" description:"What proves that we made the link to a private file. A link has it already."`
}

// Image is an image that has been uploaded.
type Image struct {
	MediaID    int64         `json:"mediaId" description:"The image's number."`
	PrimaryURL string        `json:"primaryUrl" description:"The image as /media/<mediaId>; give it wherever an address of an image is asked for."`
	Variants   ImageVariants `json:"variants" description:"The sizes in which the image was kept. What was sent is not."`
}

// ImageVariants are an image's sizes. None is larger than the image was, but og, which
// is cut to its size.
type ImageVariants struct {
	Web       ImageVariant `json:"web" description:"For pages: up to 2048 x 2048 pixels."`
	Thumbnail ImageVariant `json:"thumbnail" description:"For lists: up to 400 x 400 pixels."`
	OG        ImageVariant `json:"og" description:"For previews: 1200 x 630 pixels, cut from the middle."`
}

// ImageVariant is one size in both of its formats.
type ImageVariant struct {
	WebP   string `json:"webp" description:"The path of the WebP, relative to the root."`
	JPEG   string `json:"jpeg" description:"The path of the JPEG, relative to the root."`
	Width  int    `json:"width" description:"Its width in pixels."`
	Height int    `json:"height" description:"Its height in pixels."`
}

// Media is a file that has been uploaded.
type Media struct {
	MediaID    int64  `json:"mediaId" description:"The file's number."`
	PrimaryURL string `json:"primaryUrl" description:"The file as /media/<mediaId>; give it wherever an address of a file is asked for."`
	Filename   string `json:"filename" description:"The file's name as it was sent, without folders and control characters."`
	Bytes      int64  `json:"bytes" description:"Its size in bytes."`
	MIME       string `json:"mime" description:"The media type as which it is kept and served."`
}
