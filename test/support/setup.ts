// Runs before each test file.
import fc from 'fast-check'
import './bundled-threads.ts'
import { laneCount } from './lane.ts'
import { testSeed } from './random.ts'

// Where a property names no number of its own. Files of properties are in both lanes.
fc.configureGlobal({ seed: testSeed, numRuns: laneCount(100, 20) })
