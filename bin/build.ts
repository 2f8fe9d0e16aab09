// Writes dist/: the program as JavaScript in few files, for the packages and the image.
// Node strips no types below node_modules, and few files take less CPU time and memory than many.
import { hash } from 'node:crypto'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleProgram } from './bundle-program.ts'
import { buildDashboard, writeTypes } from './dashboard.ts'
import { writeDatabaseTemplate } from './database-template.ts'
import { libraryFiles, libraryFolder, shippedFolder } from '#api/reference/assets.ts'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')

interface Package {
  readonly name: string
  readonly version: string
  readonly type: string
}
const { name, version, type } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as Package

rmSync(dist, { recursive: true, force: true })
await bundleProgram(dist)
await writeDatabaseTemplate()
// Example repository that `gslbd start` copies.
cpSync(join(root, 'examples'), join(dist, 'examples'), { recursive: true })

// The reference page needs two files of a library of 12 MB, and the texts that its licences
// require.
for (const name of libraryFiles) {
  cpSync(join(libraryFolder(), name), join(dist, 'api/reference', shippedFolder, name))
}

await buildDashboard()
writeTypes()

/** Identifies this build; see `programStamp`. */
const contents = contentsOf([
  join(root, 'package-lock.json'),
  ...globSync('**/*.{js,cjs}', { cwd: dist })
    .sort()
    .map((path) => join(dist, path)),
])
writeFileSync(
  join(dist, 'package.json'),
  `${JSON.stringify({ name, version, type, private: true, contents }, null, 2)}\n`,
)

/** Returns a hash of the files, in hex. */
function contentsOf(files: readonly string[]): string {
  return hash('sha256', files.map((path) => hash('sha256', readFileSync(path))).join('\n'))
}
