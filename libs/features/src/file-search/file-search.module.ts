import { Module } from '@nestjs/common';
import { PricesModule } from '../billing/prices/prices.module.js';
import { FilesService } from './files.service.js';
import { VectorStoreFilesService } from './vector-store-files.service.js';
import { VectorStoresService } from './vector-stores.service.js';

const SERVICES = [FilesService, VectorStoreFilesService, VectorStoresService];

/** Files of accounts and vector stores. They are searched with what `TextModule` provides, which makes vectors. */
@Module({ imports: [PricesModule], providers: SERVICES, exports: SERVICES })
export class FileSearchModule {}
