// The HTML of the reference page: Swagger UI over openapi.json, served by this node alone.

/**
 * Scripts and styles are files of this node, none is in the page, and no text becomes code. Nothing
 * is asked of another host.
 */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Swagger UI has its small pictures in its style, as data.
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** @param assets where the files of the page are, with the slash */
export function pageOf(assets: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>gslbd API</title>
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}swagger-ui.css">
<link rel="stylesheet" href="${assets}page.css">
</head>
<body>
<noscript>This page needs JavaScript. The same is in
<a href="/api/v1/openapi.json">openapi.json</a>.</noscript>
<main id="reference">Loading the reference…</main>
<script src="${assets}swagger-ui-bundle.js"></script>
<script src="${assets}page.js"></script>
</body>
</html>
`
}
