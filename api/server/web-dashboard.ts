// Serves /ui/: the dashboard of gslbd, or an operator's own.
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { FastifyError, FastifyInstance } from 'fastify'

/**
 * Scripts come only from files of the directory. Styles may be inline, since most build tools
 * inline some. No other site may frame a page.
 */
const dashboardPolicy = [
  "default-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const fileHeaders = {
  'content-security-policy': dashboardPolicy,
  // Revalidated by ETag at each request, and sent only when it changed.
  'cache-control': 'no-cache',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
} as const

/** Path of its first page. */
export const dashboardPath = '/ui/'

/** Folders of the shipped dashboard, in a package and in a checkout. */
const shippedFolders = ['../../ui', '../../dist/ui'] as const

/** @returns null: it was not built yet */
export function shippedDashboard(): string | null {
  const folders = shippedFolders.map((folder) => join(import.meta.dirname, folder))
  return folders.find((folder) => kindOf(folder, 'index.html') === 'file') ?? null
}

const notBuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>gslbd: the dashboard is not built</title>
<h1>The dashboard is not built</h1>
<p>In this checkout of gslbd run <code>npm ci</code>, or <code>npm run build:dashboard</code>
where the packages are installed, then load this page again.</p>
<p>The API works without it: <a href="/api/v1/docs">its reference</a>.</p>
</html>
`

/** Serves instructions while it is not built. */
export function servePlaceholder(app: FastifyInstance): void {
  const headers = { ...fileHeaders, 'content-type': 'text/html; charset=utf-8' }
  app.get('/ui', async (_request, reply) => reply.redirect(dashboardPath))
  app.get(dashboardPath, async (_request, reply) => reply.headers(headers).send(notBuilt))
}

/** Outside of the table of routes, since the directory is no part of the API. */
export function serveDashboard(app: FastifyInstance, directory: string): void {
  void app.register(async (scope) => {
    // Loaded on demand: most nodes have no dashboard, and it takes longer to load than the
    // framework.
    const { fastifyStatic } = await import('@fastify/static')
    // Hidden files are answered like absent ones.
    scope.setErrorHandler<FastifyError>((error, _request, reply) => {
      if (error.statusCode !== 403) throw error
      reply.callNotFound()
    })
    await scope.register(fastifyStatic, {
      root: directory,
      prefix: '/ui',
      redirect: true,
      decorateReply: false,
      dotfiles: 'ignore',
      cacheControl: false,
      // Files that the build has compressed are sent so to clients that accept it.
      preCompressed: true,
      allowedPath: (path) => kindOf(directory, path) !== 'none',
      setHeaders: (reply) => void reply.headers(fileHeaders),
    })
  })
}

/** Absolute paths that must not be readable over HTTP. */
interface PrivatePaths {
  /** Nothing below it may be served, whatever its name. */
  readonly dataDir: string
  /** Other files and directories. */
  readonly others: readonly string[]
}

/** @returns why `directory` cannot be served, and what to do; undefined: it can */
export function dashboardFault(
  directory: string,
  { dataDir, others }: PrivatePaths,
): string | undefined {
  const remedy = 'name the directory that the build of the dashboard has written, or remove the key'
  if (kindOf(directory, '') !== 'directory') {
    return `api.webuiPath: there is no directory ${directory} that can be read; ${remedy}`
  }
  if (kindOf(directory, 'index.html') !== 'file') {
    return `api.webuiPath: ${directory} has no index.html; ${remedy}`
  }
  const real = realpathSync(directory)
  const held = [dataDir, ...others].find((path) => isInside(real, realOf(path)))
  if (held !== undefined) {
    return (
      `api.webuiPath: ${directory} holds ${held}, which everybody could then read; ` +
      'give the dashboard a directory of its own'
    )
  }
  if (!isInside(realOf(dataDir), real)) return undefined
  return (
    `api.webuiPath: ${directory} is in the data directory ${dataDir}, ` +
    'whose files everybody could then read; give the dashboard a directory outside'
  )
}

type Kind = 'file' | 'directory' | 'none'

/** Also `none` when a link leads out of `directory`, or to a hidden name. */
function kindOf(directory: string, path: string): Kind {
  try {
    const root = realpathSync(directory)
    const found = realpathSync(join(root, path))
    if (isHidden(relative(root, found))) return 'none'
    const stat = statSync(found)
    if (stat.isFile()) return 'file'
    return stat.isDirectory() ? 'directory' : 'none'
  } catch {
    return 'none'
  }
}

/** Whether a part begins with a dot, as `..` does. */
const isHidden = (path: string): boolean => path.split(sep).some((part) => part.startsWith('.'))

function isInside(directory: string, other: string): boolean {
  const way = relative(directory, other)
  return way.split(sep)[0] !== '..'
}

/** Resolves links in the part of the path that exists, and appends the rest. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realOf(parent), basename(path))
  }
}
