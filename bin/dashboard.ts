// Writes dist/ui/, the files of the dashboard, and dist/openapi.d.ts, the types it is checked with.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { openApiOf } from '#api/reference/openapi.ts'
import { routes } from '#api/routes.ts'
import { licences } from './licences.ts'
import { responseTypes } from './response-types.ts'
import type { Described } from './response-types.ts'

const root = join(import.meta.dirname, '..')

/** @param folder for dist/ui, or another place in a test */
export async function buildDashboard(folder = join(root, 'dist/ui')): Promise<void> {
  // Imported here, since the types alone need no builder.
  const { build } = await import('vite')
  await build({
    configFile: false,
    root: join(root, 'dashboard'),
    base: './',
    logLevel: 'warn',
    publicDir: false,
    plugins: [licences],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      // Assets stay files, since the page's Content-Security-Policy refuses inline ones.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  })
  compress(folder)
}

/** Writes compressed files beside each file, which browsers may accept in its place. */
function compress(folder: string): void {
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(?:html|js|css|svg)$/.test(path)) continue
    const bytes = readFileSync(join(folder, path))
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
    writeFileSync(join(folder, `${path}.br`), brotliCompressSync(bytes, { params }))
    writeFileSync(join(folder, `${path}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

export function writeTypes(): void {
  const document = JSON.parse(JSON.stringify(openApiOf(routes))) as Described
  mkdirSync(join(root, 'dist'), { recursive: true })
  writeFileSync(join(root, 'dist/openapi.d.ts'), responseTypes(document))
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { types: { type: 'boolean' }, into: { type: 'string' } },
  })
  if (values.into === undefined) writeTypes()
  if (values.types !== true) await buildDashboard(values.into)
}
