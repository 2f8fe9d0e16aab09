// Writes NOTICE: the third-party works in the packages of gslbd, as listed by the build.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { carriedOf, licenceOf, licencesFile } from './licences.ts'
import type { Carried } from './licences.ts'
import { productPackages } from './program-tree.ts'
import { libraryFolder } from '#api/reference/assets.ts'

const root = join(import.meta.dirname, '..')

/** @throws Error: dist/ was not built */
export function noticeText(): string {
  const beside = productPackages().filter(isOfAllMachines).map(licenceOf)
  const node = 'Node.js: MIT, and what node_modules/node/LICENSE says of its parts'
  return [
    intro,
    part('In the program: the texts are in dist/licences.txt', linesOf(built('.'))),
    part('In the dashboard: the texts are in dist/ui/licences.txt', linesOf(built('ui'))),
    part(
      'In the reference of the API: the texts are in dist/api/reference/assets',
      linesOf(licenceOf(libraryFolder())),
    ),
    part('Beside the program: the texts are in each folder of node_modules', [
      node,
      ...linesOf(beside.join('\n')),
    ]),
  ].join('\n')
}

const intro = `gslbd
Copyright 2026 The authors of gslbd

Licensed under the Apache License, Version 2.0: see LICENSE.

What is made of this source carries work of others, each under a licence of its own.
Written by "npm run notice".
`

function built(folder: string): string {
  const file = join(root, 'dist', folder, licencesFile)
  if (!existsSync(file)) throw new Error(`${file} is not there: run "npm run build" first`)
  return readFileSync(file, 'utf8')
}

const part = (title: string, lines: readonly string[]): string =>
  `\n${title}\n\n${lines.join('\n')}\n`

/** Returns the lines of each package once, also when it has several versions. */
function linesOf(text: string): string[] {
  const byName = new Map<string, Carried>()
  for (const one of carriedOf(text)) if (!byName.has(one.name)) byName.set(one.name, one)
  const names = [...byName.keys()].toSorted()
  return names.map((name) => lineOf(byName.get(name)!))
}

const lineOf = ({ name, licence, copyrights }: Carried): string =>
  [`${name}: ${licence}`, ...copyrights.map((line) => `    ${line}`)].join('\n')

/**
 * Whether a package is for all machines: machine code of one system is a further package of one
 * that is.
 */
function isOfAllMachines(folder: string): boolean {
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object
  return !('cpu' in about)
}

if (import.meta.main) writeFileSync(join(root, 'NOTICE'), noticeText())
