// Makes a release: packages, papers, checksums, and the signed tag. It publishes nothing.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '#lib/clock.ts'
import { Exit } from '#system/process/command.ts'
import { StepFault, takeSteps } from './package-steps.ts'
import type { Steps } from './package-steps.ts'
import {
  chartArchive,
  changesOf,
  releaseFaults,
  releaseSteps,
  versionPlaces,
} from './release-plan.ts'
import type { Facts } from './release-plan.ts'
import { billOf, provenanceOf, sumOf, sumsText } from './release-papers.ts'
import type { Bom, Sum } from './release-papers.ts'
import { partOf, putInPlace } from './release-place.ts'

const help = `npm run release -- [options]
  --plan               prints the steps and what stands in their way, and does nothing
  --dry-run            makes every file, whatever stands in the way; no signature, no tag
  --output FOLDER      where the files go; release/ without it
  --without STEP       leaves out image, or deb and image, where their programs are missing
  --compression NAME   of the Debian package: xz, zstd, none
  --set-version X.Y.Z  writes the version into every file that states it, and does nothing else
docs/contributing/release.md says what comes before and after.`

const { values } = parseArgs({
  options: {
    plan: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
    output: { type: 'string', short: 'o' },
    without: { type: 'string', multiple: true, default: [] },
    compression: { type: 'string', default: 'xz' },
    'set-version': { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const root = join(import.meta.dirname, '..')
process.chdir(root)
const output = resolve(values.output ?? 'release')
const read = (path: string): string => readFileSync(path, 'utf8')
/** The image takes its program from the Debian package. */
const leftOut = values.without.includes('deb') ? ['deb', 'image'] : values.without
const notice = (): string => read('NOTICE')
const { version, homepage } = JSON.parse(read('package.json')) as Readonly<Record<string, string>>
const project = (homepage ?? '').replace(/#.*$/, '')
const named = (text: string): string => text.replaceAll('VERSION', version ?? '')

async function release(): Promise<void> {
  const facts = factsOf()
  const faults = releaseFaults(facts)
  if (values.plan || values['dry-run']) {
    console.log(releaseSteps.map(lineOf).join('\n'))
    for (const fault of faults) console.error(`would stop: ${fault}`)
  } else for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
  if (values.plan || (faults.length > 0 && !values['dry-run'])) return
  await takeSteps('release', (steps) => makeAll(steps, facts))
}

/**
 * Whether the output folder may be replaced: it does not exist, is empty, or holds an earlier
 * release.
 */
function mayReplace(folder: string): boolean {
  if (!existsSync(folder)) return true
  const names = readdirSync(folder)
  return names.length === 0 || names.includes('SHA256SUMS')
}

/**
 * Steps whose results a dry run leaves out, so that nobody takes the files of an unclean tree for a
 * release.
 */
const notInDryRun: ReadonlyMap<string, string> = new Map([
  ['checksums', ' (not signed in a dry run)'],
  ['tag', ' (not in a dry run)'],
])

function lineOf([name, does]: readonly [string, string], index: number): string {
  const isLeftOut = leftOut.includes(name)
  const inDryRun = values['dry-run'] ? (notInDryRun.get(name) ?? '') : ''
  const why = isLeftOut ? ' (left out)' : inDryRun
  return `${index + 1}. ${name}: ${named(does)}${why}`
}

function factsOf(): Facts {
  const changelog = read('CHANGELOG.md')
  const stated = new Map(
    versionPlaces.map(([path, pattern]) => [
      path,
      [...read(path).matchAll(pattern)].map(([, , one = '']) => one),
    ]),
  )
  const [changes, tags] = [git('status', '--porcelain'), git('tag', '--list', 'v*')].map(linesOf)
  const isSsh = setting('gpg.format') === 'ssh'
  const key = isSsh ? setting('user.signingkey') : undefined
  const [commit = ''] = linesOf(git('rev-parse', 'HEAD'))
  return { version: version!, stated, changelog, changes: changes!, tags: tags!, commit, key }
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')
const outputOf = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
const git = (...args: readonly string[]): string => outputOf('git', ...args)

function setting(name: string): string | undefined {
  const [value] = linesOf(git('config', '--default', '', '--type=path', '--get', name))
  return value
}

async function makeAll(steps: Steps, facts: Facts): Promise<void> {
  const startedOn = systemClock.nowMs()
  const files = join(steps.stage, 'files')
  mkdirSync(files)
  await makePackages(steps, files)
  steps.say('packing the chart')
  const chart = join(files, `gslbd-chart-${version}.tgz`)
  await steps.run('git', ...chartArchive(facts.commit, chart))
  steps.say('writing the bill of materials')
  const how = ['--sbom-type', 'application', '--package-lock-only']
  const args = ['sbom', '--sbom-format', 'cyclonedx', ...how]
  const bom = JSON.parse(outputOf('npm', ...args)) as Bom
  put(files, `gslbd-${version}.cdx.json`, billOf(bom, notice(), process.versions.node))
  steps.say('writing the provenance and the checksums')
  const sums = await sumsOf(files)
  put(files, `gslbd-${version}.intoto.json`, provenanceOf(sums, making(startedOn, facts)))
  const sumsFile = join(files, 'SHA256SUMS')
  writeFileSync(sumsFile, sumsText(await sumsOf(files)))
  if (facts.key !== undefined && !values['dry-run']) {
    await steps.run('ssh-keygen', '-Y', 'sign', '-f', facts.key, '-n', 'gslbd-release', sumsFile)
  }
  await putInPlace(files, output, async () => {
    if (!values['dry-run']) await makeTag(steps, facts)
  })
  console.log(`${readdirSync(output).join('\n')}\nare in ${output}`)
}

async function makePackages({ stage, say, run }: Steps, files: string): Promise<void> {
  say('building the program')
  await run(process.execPath, 'bin/build.ts')
  // Imported here, since it reads files of the build that exist only now.
  const { noticeText } = await import('./notice.ts')
  if (noticeText() !== notice()) {
    throw new StepFault('NOTICE does not name what is carried: npm run notice, and commit it')
  }
  say('making the npm package')
  await run('npm', 'pack', '--ignore-scripts', '--silent', '--pack-destination', files)
  say('making the package of the client')
  const client = join(stage, 'client')
  await run(process.execPath, 'bin/client-package.ts', client)
  await run('npm', 'pack', client, '--silent', '--pack-destination', files)
  if (leftOut.includes('deb')) return
  say('making the Debian package')
  const how = ['--built', '--output', files, '--compression', values.compression]
  await run(process.execPath, 'bin/package-deb.ts', ...how)
  if (leftOut.includes('image')) return
  say('making the image')
  const deb = readdirSync(files).find((name) => name.endsWith('.deb'))!
  const image = ['--output', join(stage, 'files', `gslbd-${version}-image.tar`)]
  await run(process.execPath, 'bin/package-image.ts', '--deb', join(files, deb), ...image)
}

const put = (folder: string, name: string, content: object): void =>
  writeFileSync(join(folder, name), `${JSON.stringify(content, null, 2)}\n`)

const sumsOf = (folder: string): Promise<Sum[]> =>
  Promise.all(
    readdirSync(folder)
      .toSorted()
      .map((name) => sumOf(join(folder, name))),
  )

function making(startedOn: number, { commit }: Facts): Parameters<typeof provenanceOf>[1] {
  const programs = { node: process.versions.node, npm: outputOf('npm', '--version').trim() }
  const lockSha256 = outputOf('sha256sum', 'package-lock.json').split(' ')[0]!
  const [start, end] = [startedOn, systemClock.nowMs()].map((at) => new Date(at).toISOString())
  const times = { startedOn: start!, finishedOn: end! }
  return { project, version: version!, commit, lockSha256, programs, ...times }
}

async function makeTag({ stage, say, run }: Steps, { changelog, commit }: Facts): Promise<void> {
  say(`signing the tag v${version}`)
  const message = join(stage, 'message')
  writeFileSync(message, `gslbd ${version}\n\n${changesOf(changelog, version!)}\n`)
  const how = ['--sign', '--cleanup=whitespace', '--file', message]
  await run('git', 'tag', ...how, `v${version}`, commit)
}

function refuse(sentence: string): void {
  console.error(sentence)
  process.exitCode = Exit.Usage
}

function setVersion(wanted: string): void {
  if (!/^\d+\.\d+\.\d+$/.test(wanted)) {
    refuse(`--set-version ${wanted}: write three numbers, such as 0.2.0`)
    return
  }
  const own = ['package.json', /(^ {2}"version": ")([\d.]+)/gm] as const
  for (const [path, pattern] of [own, ...versionPlaces]) {
    writeFileSync(
      path,
      read(path).replaceAll(pattern, (_, before: string) => before + wanted),
    )
  }
  console.log(`the version is ${wanted}: give it a heading in CHANGELOG.md`)
}

const taken = [output, partOf(output)].find((folder) => !mayReplace(folder))
const unknown = values.without.find((name) => name !== 'deb' && name !== 'image')
if (values.help) console.log(help)
else if (unknown !== undefined) refuse(`--without ${unknown}: it may be deb or image`)
else if (values['set-version'] !== undefined) setVersion(values['set-version'])
else if (taken !== undefined) refuse(`${taken} has other files: name another folder`)
else await release()
