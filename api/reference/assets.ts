// Loads the static files of the reference page once: those of Swagger UI and two of our own.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pageScript, pageStyle } from './script.ts'

const javaScript = 'text/javascript; charset=utf-8'
const css = 'text/css; charset=utf-8'

/** By the name in the address. A file of the library has no text here. */
const rows: Readonly<Record<string, { readonly type: string; readonly text?: string }>> =
  Object.freeze({
    'swagger-ui.css': { type: css },
    'swagger-ui-bundle.js': { type: javaScript },
    'page.css': { type: css, text: pageStyle },
    'page.js': { type: javaScript, text: pageScript },
  })

export const assetNames: readonly string[] = Object.keys(rows)

/** Files of the library and its licences, which `bin/build.ts` puts into the package. */
export const libraryFiles: readonly string[] = Object.freeze([
  ...assetNames.filter((name) => rows[name]?.text === undefined),
  'swagger-ui-bundle.js.LICENSE.txt',
  'LICENSE',
  'NOTICE',
])

/** Folder of the assets in the package, beside this file. */
export const shippedFolder = 'assets'

/** Returns the folder of the assets in a checkout, installed by `npm ci`. */
export function libraryFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
}

interface Asset {
  readonly type: string
  readonly bytes: Buffer
  /** Quoted entity tag. */
  readonly etag: string
}

const read = new Map<string, Promise<Asset>>()

/** @returns undefined: there is no such file */
export function assetOf(name: string): Promise<Asset> | undefined {
  if (!Object.hasOwn(rows, name)) return undefined
  let asset = read.get(name)
  if (asset === undefined) {
    asset = readAsset(name)
    read.set(name, asset)
    // A read that failed, for lack of descriptors, is tried again later.
    asset.catch(() => read.delete(name))
  }
  return asset
}

async function readAsset(name: string): Promise<Asset> {
  const { type, text } = rows[name]!
  const bytes = text === undefined ? await readFile(join(folder(), name)) : Buffer.from(text)
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { type, bytes, etag }
}

function folder(): string {
  const shipped = join(import.meta.dirname, shippedFolder)
  return existsSync(shipped) ? shipped : libraryFolder()
}
