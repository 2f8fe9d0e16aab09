// Tests that obstacles to a release are reported in sentences, and that a dry run prints its steps.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { licenceOf, missingTerms } from '#bin/licences.ts'
import { changesOf, releaseFaults, releaseSteps, versionPlaces } from '#bin/release-plan.ts'
import type { Facts } from '#bin/release-plan.ts'
import { billOf, provenanceOf, sumsText } from '#bin/release-papers.ts'
import type { Bom, Component } from '#bin/release-papers.ts'
import { partOf, putInPlace } from '#bin/release-place.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const root = join(import.meta.dirname, '../../..')

const changelog = `# Changelog

## 0.2.0 (2026-12-01)

### Features

- Something.

## 0.1.0 (2026-11-01)

- The first.
`
const ready: Facts = {
  version: '0.2.0',
  stated: new Map([['lib/version.ts', ['0.2.0']]]),
  changelog,
  changes: [],
  tags: ['v0.1.0', 'v0.0.9'],
  commit: 'c0ffee',
  key: 'keys/ann',
}

describe('faults that prevent a release', () => {
  test('are none when all is ready', () => {
    expect(releaseFaults(ready)).toEqual([])
  })

  const rows: readonly (readonly [string, Partial<Facts>, RegExp])[] = [
    ['a version that is none', { version: '1.0' }, /"1\.0": write three numbers/],
    ['a tag that exists', { tags: ['v0.2.0'] }, /the tag v0\.2\.0 exists: raise it/],
    ['a version that was not raised', { tags: ['v0.10.0'] }, /0\.2\.0 is below v0\.10\.0/],
    [
      'a file with another version',
      { stated: new Map([['lib/version.ts', ['0.1.0']]]) },
      /lib\/version\.ts says 0\.1\.0.*--set-version 0\.2\.0/,
    ],
    ['a file that states none', { stated: new Map([['x.yaml', []]]) }, /x\.yaml states no version/],
    ['a changelog without the heading', { changelog: '# Changelog\n' }, /no heading "## 0\.2\.0"/],
    [
      'a heading without the day',
      { changelog: '## 0.2.0 (unreleased)\n\n- x\n' },
      /says "## 0\.2\.0 \(unreleased\)": write the day/,
    ],
    [
      'a heading with nothing below',
      { changelog: '## 0.2.0 (2026-12-01)\n\n## 0.1.0\n' },
      /nothing/,
    ],
    ['a tree that is not clean', { changes: [' M a', '?? b', '?? c', '?? d'] }, /\?\? c, …\)/],
    ['no key', { key: undefined }, /git config user\.signingkey FILE/],
  ]
  test.each(rows)('%s', (_title, facts, said) => {
    const faults = releaseFaults({ ...ready, ...facts })
    expect(faults.join('\n')).toMatch(said)
    // A version that is none is in no heading either.
    if (facts.version === undefined) expect(faults).toHaveLength(1)
  })
})

test('the message of the tag is the part of the changelog', () => {
  expect(changesOf(changelog, '0.2.0')).toBe('### Features\n\n- Something.')
  expect(changesOf(changelog, '0.1.0')).toBe('- The first.')
})

test('the version stands where a release looks for it, everywhere the same', () => {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  const { version } = JSON.parse(read('package.json')) as { readonly version: string }
  for (const [path, pattern] of versionPlaces) {
    const found = [...read(path).matchAll(pattern)].map(([, , one]) => one)
    expect([path, [...new Set(found)]]).toEqual([path, [version]])
  }
})

test('a release raises the version of the product in SARIF, and not the one of the format', () => {
  for (const name of ['delegated', 'many']) {
    const path = `test/golden/compile/${name}-mistakes/expected.sarif`
    const [, pattern] = versionPlaces.find(([place]) => place === path)!
    const text = readFileSync(join(root, path), 'utf8')
    const raised = text.replaceAll(pattern, (_, before: string) => `${before}7.8.9`)
    const versions = [...raised.matchAll(/"version": "(.*)"/g)].map(([, one]) => one)
    expect(versions).toEqual(['2.1.0', '7.8.9'])
  }
})

test('the plan of a dry run has every step, and what would stop it', () => {
  // Before what the person who runs the tests has set.
  const config = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'gpg.format' }
  const env = { ...process.env, ...config, GIT_CONFIG_VALUE_0: 'openpgp' }
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['bin/release.ts', '--plan', '--dry-run', '--without', 'image'],
    { cwd: root, encoding: 'utf8', env },
  )
  const lines = stdout.trimEnd().split('\n')
  expect(lines.map((line) => line.split(':')[0])).toEqual(
    releaseSteps.map(([name], index) => `${index + 1}. ${name}`),
  )
  const marks = lines.flatMap(
    (line) => /^\d+\. (\w+): .*? \(([^()]*\b(?:out|run))\)$/.exec(line) ?? [],
  )
  expect(marks.filter((_, index) => index % 3 !== 0)).toEqual([
    ...['image', 'left out'],
    ...['checksums', 'not signed in a dry run'],
    ...['tag', 'not in a dry run'],
  ])
  expect(stderr).toContain('would stop: git has no SSH key to sign with')
  expect(status).toBe(1)
})

test('the bill has what is carried, and of what builds it only what ends up in the result', () => {
  const component = (name: string, isForBuild: boolean): Component => ({
    'bom-ref': `${name}@1`,
    name,
    version: '1',
    purl: `pkg:npm/${name}@1`,
    scope: isForBuild ? 'optional' : 'required',
    properties: isForBuild ? [{ name: 'cdx:npm:package:development', value: 'true' }] : [],
  })
  const bom: Bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    metadata: { component: { ...component('gslbd', false), name: 'checkout' } },
    components: [component('ajv', false), component('preact', true), component('eslint', true)],
    dependencies: [
      { ref: 'gslbd@1', dependsOn: ['ajv@1', 'preact@1', 'eslint@1'] },
      { ref: 'eslint@1', dependsOn: ['ajv@1'] },
    ],
  }
  const bill = billOf(bom, 'ajv: MIT\npreact: MIT\n    Copyright (c) eslint: none\n', '26.1.0')
  expect(bill.metadata.component.name).toBe('gslbd')
  expect(bill.components.map(({ name }) => name)).toEqual(['ajv', 'preact', 'node'])
  expect(bill.components.at(-1)).toMatchObject({ purl: 'pkg:generic/node@26.1.0' })
  expect(bill.components.every(({ scope }) => scope === 'required')).toBe(true)
  expect(bill.dependencies).toEqual([{ ref: 'gslbd@1', dependsOn: ['ajv@1', 'preact@1'] }])
})

test('the provenance names each file by its sum, the commit and the programs', () => {
  const sums = [{ name: 'a.tgz', sha256: 'ab'.repeat(32) }]
  const times = { startedOn: '2026-12-01T00:00:00.000Z', finishedOn: '2026-12-01T00:01:00.000Z' }
  const statement = provenanceOf(sums, {
    project: 'https://github.com/gslbd/gslbd',
    version: '0.2.0',
    commit: 'c0ffee',
    lockSha256: 'cd',
    programs: { node: '26.0.0' },
    ...times,
  })
  expect(statement).toMatchObject({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'a.tgz', digest: { sha256: 'ab'.repeat(32) } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        resolvedDependencies: [
          {
            uri: 'git+https://github.com/gslbd/gslbd.git@refs/tags/v0.2.0',
            digest: { gitCommit: 'c0ffee' },
          },
          { uri: 'package-lock.json', digest: { sha256: 'cd' } },
        ],
      },
      runDetails: { builder: { version: { node: '26.0.0' } }, metadata: times },
    },
  })
  expect(sumsText(sums)).toBe(`${'ab'.repeat(32)}  a.tgz\n`)
})

test.each([
  ['--set-version', '1.x', '--set-version 1.x: write three numbers, such as 0.2.0'],
  ['--without', 'sbom', '--without sbom: it may be deb or image'],
  ['--output', 'docs', `${join(root, 'docs')} has other files: name another folder`],
])('%s %s is refused in a sentence', (option, value, said) => {
  const args = ['bin/release.ts', option, value]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 2, stderr: `${said}\n` })
})

describe('the files of a release', () => {
  function scene(): { readonly files: string; readonly output: string } {
    const work = makeTempDir('release-place')
    onTestFinished(() => removeTempDir(work))
    const [files, output] = [join(work, 'files'), join(work, 'there/out')]
    for (const [folder, content] of [
      [files, 'new'],
      [output, 'old'],
    ] as const) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'SHA256SUMS'), content)
    }
    return { files, output }
  }
  const said = (folder: string): string => readFileSync(join(folder, 'SHA256SUMS'), 'utf8')

  test('are whole on their disk before there is a tag, and appear after it', async () => {
    const { files, output } = scene()
    const seen: string[] = []
    await putInPlace(files, output, () => {
      seen.push(said(partOf(output)), said(output))
      return Promise.resolve()
    })
    expect([...seen, said(output)]).toEqual(['new', 'old', 'new'])
    expect(readdirSync(join(output, '..'))).toEqual(['out'])
  })

  test('leave the ones from before where they were, when git makes no tag', async () => {
    const { files, output } = scene()
    const refused = putInPlace(files, output, () => Promise.reject(new Error('no tag')))
    await expect(refused).rejects.toThrow('no tag')
    expect(said(output)).toBe('old')
    expect(readdirSync(join(output, '..'))).toEqual(['out'])
  })

  test('get no tag, when their place cannot be made', async () => {
    const { files } = scene()
    let tags = 0
    const output = join(files, 'SHA256SUMS', 'out')
    const refused = putInPlace(files, output, () => Promise.resolve(void tags++))
    await expect(refused).rejects.toThrow(/EEXIST|ENOTDIR/)
    expect(tags).toBe(0)
  })
})

describe('the terms of what is carried', () => {
  const at = (name: string): string => join(root, 'node_modules', name)

  test.each([
    ['abstract-logging', 'Copyright (c) James Sumners', 'Permission is hereby granted'],
    ['pg-types', 'Copyright (c) 2014 Brian M. Carlson', 'Permission is hereby granted'],
    ['pgpass', 'Copyright (c) 2013-2016 Hannes Hörl', 'Permission is hereby granted'],
    ['@redis/client', 'Copyright (c) the authors of @redis/client', 'Permission is hereby granted'],
  ])('%s has them without a file of the usual name', (name, holder, terms) => {
    const text = licenceOf(at(name))
    expect(text).toContain(holder)
    expect(text).toContain(terms)
    expect(text).not.toContain('COPYRIGHT\n')
  })

  test('each package that is carried has some', () => {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      readonly packages: object
    }
    const notice = readFileSync(join(root, 'NOTICE'), 'utf8')
    const named = new Set([...notice.matchAll(/^(\S+): /gm)].map(([, name = '']) => name))
    const folders = Object.keys(lock.packages).filter((path) =>
      named.has(path.replace(/^.*node_modules\//, '')),
    )
    expect(folders.length).toBeGreaterThan(100)
    const without = folders.filter((path) => {
      const [, ...terms] = licenceOf(join(root, path)).split('\n')
      return terms.join('').length < 100
    })
    expect(without).toEqual([])
  })

  test('a licence without a standard text stops the build, with one it names the author', () => {
    const folder = makeTempDir('package')
    onTestFinished(() => removeTempDir(folder))
    const says = (license: string): string | undefined => {
      const about = { name: 'x', version: '1.0.0', license, author: { name: 'Ann' } }
      writeFileSync(join(folder, 'package.json'), JSON.stringify(about))
      return missingTerms(folder)
    }
    expect(says('ISC')).toContain('Copyright (c) Ann\n\nPermission to use, copy, modify')
    expect(() => says('Odd')).toThrow('x has no licence file: write the text of Odd into')
    writeFileSync(join(folder, 'UNLICENSE'), 'free')
    expect(says('Odd')).toBeUndefined()
  })

  test('NOTICE has the copyrights of PostgreSQL, which its licence wants in all copies', () => {
    const terms = readFileSync(join(root, 'bin/licences/PostgreSQL.txt'), 'utf8')
    const lines = terms.match(/^Portions Copyright .*$/gm) ?? []
    expect(lines).toHaveLength(2)
    expect(readFileSync(join(root, 'NOTICE'), 'utf8')).toContain(
      ['@electric-sql/pglite: Apache-2.0', ...lines].join('\n    '),
    )
  })
})
